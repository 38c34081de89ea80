// SPDX-License-Identifier: Apache-2.0
//
// What a page shows while it waits, when it failed, and when there is nothing.
import type { ComponentChildren, JSX } from "preact";
import type { Loaded } from "../api";

export function Show<T>({
  of,
  what,
  children,
}: {
  of: Loaded<T>;
  what: string;
  children: (value: T) => JSX.Element;
}) {
  switch (of.state) {
    case "loading":
      return (
        <p class="loading" role="status">
          Loading {what}…
        </p>
      );
    case "failed":
      return (
        <section class="notice bad" role="alert">
          <h1>{of.error.status === 404 ? `There is no such ${what}` : of.error.message}</h1>
          {of.error.status === 404 ? (
            <p>
              It may be on another server, or the address is not whole. Go to the <a href="/">issues</a> or to the{" "}
              <a href="/reports">reports</a>.
            </p>
          ) : (
            <p>{of.error.remedy}</p>
          )}
          {of.error.status !== 404 && (
            <button type="button" onClick={of.retry}>
              Try again
            </button>
          )}
        </section>
      );
    case "ready":
      return children(of.value);
  }
}

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="notice">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

// Links to the page behind; the browser's back button is the way back.
export function Older({ path, next }: { path: string; next: string | null }) {
  return next === null ? null : (
    <p class="pager">
      <a class="button" href={`${path}?before=${encodeURIComponent(next)}`}>
        Older →
      </a>
    </p>
  );
}
