// SPDX-License-Identifier: Apache-2.0
//
// Reads the server's API. A failure is an ApiError that says what to do.
import { useEffect, useState } from "preact/hooks";
import type { Issue, IssueList, Report, ReportList } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

async function read<T>(path: string, signal: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    throw new ApiError(0, "The server does not answer", "Check that cairn-server runs, then try again.");
  }
  const body = (await response.json().catch(() => null)) as (T & { error?: string; remedy?: string }) | null;
  if (!response.ok || body === null) {
    throw new ApiError(
      response.status,
      body?.error ?? `The server answered ${response.status}`,
      body?.remedy ?? "Try again; the server's log says more.",
    );
  }
  return body;
}

const query = (values: Record<string, string | number | null>) => {
  const given = Object.entries(values).filter(([, value]) => value !== null);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([key, value]) => [key, `${value}`]))}`;
};

type Reader<T> = (signal: AbortSignal) => Promise<T>;

export const issues =
  (before: string | null): Reader<IssueList> =>
  (signal) =>
    read(`/api/v1/issues${query({ before })}`, signal);

export const issue =
  (id: string): Reader<Issue> =>
  (signal) =>
    read(`/api/v1/issues/${id}`, signal);

export const reports =
  (of: string | null, before: string | null): Reader<ReportList> =>
  (signal) =>
    read(`/api/v1/reports${query({ issue: of, before })}`, signal);

export const report =
  (uuid: string): Reader<Report> =>
  (signal) =>
    read(`/api/v1/reports/${uuid}`, signal);

export type Loaded<T> =
  | { state: "loading" }
  | { state: "failed"; error: ApiError; retry: () => void }
  | { state: "ready"; value: T };

// Reads again whenever `key` changes; an answer that comes too late is dropped.
export function useLoaded<T>(key: string, reader: Reader<T>): Loaded<T> {
  const [attempt, setAttempt] = useState(0);
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  useEffect(() => {
    const abort = new AbortController();
    setLoaded({ state: "loading" });
    reader(abort.signal).then(
      (value) => setLoaded({ state: "ready", value }),
      (error: unknown) => {
        if (!abort.signal.aborted) {
          const known = error instanceof ApiError ? error : new ApiError(0, `${error}`, "Load the page again.");
          setLoaded({ state: "failed", error: known, retry: () => setAttempt((n) => n + 1) });
        }
      },
    );
    return () => abort.abort();
  }, [key, attempt]);
  return loaded;
}
