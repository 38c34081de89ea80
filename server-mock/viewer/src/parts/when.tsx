// SPDX-License-Identifier: Apache-2.0
import { ago, time } from "../format";

// A time, how long ago first; exact on hover and for screen readers.
export function When({ at, exact = false }: { at: string | undefined; exact?: boolean }) {
  if (!at) {
    return <span class="muted">unknown</span>;
  }
  return exact ? (
    <time dateTime={at}>
      {time(at)} <span class="muted">({ago(at)})</span>
    </time>
  ) : (
    <time dateTime={at} title={time(at)}>
      {ago(at)}
    </time>
  );
}
