// SPDX-License-Identifier: Apache-2.0
//
// The server's JSON (docs/server.md, docs/report-format.md). Absent: unknown.

export interface Day {
  day: string;
  count: number;
}

export interface Issue {
  id: number;
  title: string;
  signature: string;
  signature_version: number;
  app_id?: string;
  count: number;
  first_seen: string;
  last_seen: string;
  latest_report: string;
  versions: { version: string; count: number }[];
  trend: Day[];
}

export interface IssueList {
  issues: Issue[];
  next: string | null;
  totals: { issues: number; reports: number; waiting: number; undecodable: number };
}

export interface ServerFacts {
  uuid: string;
  received: string;
  bytes: number;
  state: "waiting" | "decoded" | "undecodable";
  problem?: string;
  issue?: number;
  title?: string;
  signature?: string;
  signature_version?: number;
  // Index of the frame to look at first, in the crashed thread.
  culprit?: number;
}

export interface App {
  id?: string;
  version?: string;
  build?: string;
  environment?: string;
}

export interface ReportRow extends ServerFacts {
  time?: string;
  kind?: string;
  complete?: boolean;
  process?: string;
  os?: string;
  app?: App;
}

export interface ReportList {
  reports: ReportRow[];
  next: string | null;
}

export interface Frame {
  address: string;
  kind: "fault" | "return" | "interrupted";
  trust: string;
  function?: string;
  function_mangled?: string;
  offset?: number;
  name_sure?: boolean;
  module?: string;
  module_path?: string;
  module_offset?: string;
  file?: string;
  line?: number;
  column?: number;
  inlined: boolean;
}

export interface Thread {
  id: number;
  name?: string;
  crashed: boolean;
  state?: string;
  frozen_by?: string;
  end?: string;
  cpu_time_ms?: number;
  frames: Frame[];
  gap?: { position: number; frames: number };
  registers?: Record<string, string>;
  stack?: { address?: string; bytes?: string; low?: string; high?: string };
}

export interface Image {
  path?: string;
  id?: string;
  id_is_derived?: boolean;
  arch?: string;
  address?: string;
  size?: number;
  unloaded?: boolean;
  symbols?: string;
}

export interface Signal {
  name: string;
  number: number;
  code: number;
  code_name: string;
  meaning?: string;
  fault_address?: string;
  sender_pid?: number;
  sender_uid?: number;
  fault_kind?: string;
  errno?: number;
  syscall?: number;
  trap?: number;
  trap_error?: number;
}

export interface Report {
  server: ServerFacts;
  format?: number;
  uuid?: string;
  time?: string;
  complete?: boolean;
  kind?: string;
  arch?: string;
  message?: string;
  app?: App;
  signal?: Signal;
  mach?: { exception: string; code: string; code_name?: string; subcode: string };
  exception?: { type?: string; type_mangled?: string; message?: string };
  abort_message?: string;
  threads?: Thread[];
  images?: Image[];
  process?: {
    pid?: number;
    parent_pid?: number;
    name?: string;
    path?: string;
    args?: string[];
    uptime_ms?: number;
  };
  host?: {
    os?: string;
    kernel?: string;
    cpu?: string;
    cpu_type?: string;
    cores?: number;
    memory_bytes?: number;
    page_bytes?: number;
  };
  keys?: Record<string, string>;
  breadcrumbs?: { time?: string; category?: string; message?: string }[];
  memory?: { address: string; reason?: string; bytes: string }[];
  cut?: { what: string; kept: number; dropped: number; thread?: number }[];
  stages?: {
    done: number;
    frozen_by: string;
    elapsed_ns: number;
    timed_out: boolean;
    errno?: number;
  }[];
  problems?: { offset?: number; text: string }[];
}
