// SPDX-License-Identifier: Apache-2.0
//
// The address is the state: every page can be linked to, and links are links.
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { page: "issues"; before: string | null }
  | { page: "issue"; id: string; before: string | null }
  | { page: "reports"; before: string | null }
  | { page: "report"; uuid: string }
  | { page: "unknown"; path: string };

export function parse(location: { pathname: string; search: string }): Route {
  const before = new URLSearchParams(location.search).get("before");
  const path = location.pathname;
  if (path === "/") {
    return { page: "issues", before };
  }
  if (path === "/reports") {
    return { page: "reports", before };
  }
  const issue = /^\/issues\/(\d+)$/.exec(path);
  if (issue) {
    return { page: "issue", id: issue[1]!, before };
  }
  const report = /^\/reports\/([0-9a-fA-F-]{36})$/.exec(path);
  return report ? { page: "report", uuid: report[1]! } : { page: "unknown", path };
}

const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !event.defaultPrevented && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

// A link that this page can follow by itself.
function ownLink(event: MouseEvent): URL | null {
  const link = (event.target as Element | null)?.closest("a");
  if (!link || link.target || link.hasAttribute("download") || !isPlainClick(event)) {
    return null;
  }
  const url = new URL(link.href);
  const samePage = url.pathname === location.pathname && url.search === location.search;
  const known = url.origin === location.origin && parse(url).page !== "unknown";
  return known && !(samePage && url.hash) ? url : null;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location));
  useEffect(() => {
    const update = () => setRoute(parse(location));
    const follow = (event: MouseEvent) => {
      const url = ownLink(event);
      if (url) {
        event.preventDefault();
        history.pushState(null, "", url);
        update();
        window.scrollTo(0, 0);
        document.getElementById("main")?.focus();
      }
    };
    addEventListener("popstate", update);
    document.addEventListener("click", follow);
    return () => {
      removeEventListener("popstate", update);
      document.removeEventListener("click", follow);
    };
  }, []);
  return route;
}
