// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

// The frame around every page: way home, skip link, main region.
export function Shell({ page, children }: { page: string; children: ComponentChildren }) {
  const current = (name: string) => (page === name ? ("page" as const) : undefined);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          <Mark /> Cairn
        </a>
        <nav aria-label="Pages">
          <a href="/" aria-current={current("issues")}>
            Issues
          </a>
          <a href="/reports" aria-current={current("reports")}>
            Reports
          </a>
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
      <rect x="1" y="11" width="14" height="4" rx="2" />
      <rect x="3" y="6" width="10" height="4" rx="2" />
      <rect x="5" y="1" width="6" height="4" rx="2" />
    </svg>
  );
}

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Cairn` : "Cairn";
  }, [title]);
}
