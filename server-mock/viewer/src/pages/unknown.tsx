// SPDX-License-Identifier: Apache-2.0
import { useTitle } from "../parts/shell";

export function UnknownPage({ path }: { path: string }) {
  useTitle("No such page");
  return (
    <section class="notice bad">
      <h1>There is no page at this address</h1>
      <p>
        <code>{path}</code> shows nothing. Go to the <a href="/">issues</a> or to the <a href="/reports">reports</a>.
      </p>
    </section>
  );
}
