// SPDX-License-Identifier: Apache-2.0
//
// The report's enumerations in plain words.

const faultKinds: Record<string, string> = {
  null_page: "the address is on the null page: a null pointer, or a field of one",
  stack_guard: "the address is in the guard of the stack: the stack overflowed",
  non_canonical: "the address is not one the processor has: a damaged pointer",
  unmapped: "nothing is mapped at the address",
  protected: "the mapping does not allow this access",
  not_executable: "the address holds no code",
  misaligned: "the address is misaligned, or behind the end of its file",
  freed_mapping: "the mapping was there before and has been freed",
};
export const faultKind = (kind: string | undefined) => (kind ? (faultKinds[kind] ?? "") : "");

const kinds: Record<string, string> = {
  crash: "Crash",
  hang: "Hang",
  capture: "Capture, the program went on",
  survived: "Survived: a handler of the program recovered",
};
export const kind = (text: string | undefined) => kinds[text ?? ""] ?? text ?? "Report";

export interface Trust {
  label: string;
  text: string;
}
// Only for frames that deserve doubt.
const weak: Record<string, Trust> = {
  scan: { label: "guess", text: "Found by scanning the stack for return addresses; may be left over from an earlier call" },
  frame_pointer: { label: "weak", text: "Found by the frame pointer; a caller may be missing" },
  link_register: { label: "weak", text: "Taken from the link register or the top of the stack" },
};
export const weakness = (trust: string): Trust | undefined => weak[trust];

const ends: Record<string, string> = {
  no_rule: "The walk ended here: no rule for going further out.",
  unreadable: "The walk ended here: the stack could not be read any further.",
  loop: "The walk ended here: the stack leads back to itself.",
  limit: "The walk ended here: the limit of frames was reached.",
};
export const walkEnd = (end: string | undefined) => (end ? ends[end] : undefined);

const states: Record<string, string> = {
  R: "running",
  S: "sleeping",
  D: "in uninterruptible sleep",
  T: "stopped",
  t: "stopped by a tracer",
  Z: "zombie",
  X: "dead",
  I: "idle",
};
export const threadState = (state: string | undefined) => (state ? (states[state] ?? state) : undefined);

const cuts: Record<string, string> = {
  frames: "frames",
  threads: "threads",
  images: "images",
  stack_bytes: "bytes of stack",
  memory_bytes: "bytes of memory",
  breadcrumbs: "breadcrumbs",
  keys: "keys",
  arguments: "arguments",
  slot_bytes: "bytes of report",
  time: "milliseconds",
  second_part: "bytes of the report's second part",
  string: "bytes of a text",
  frame_nodes: "stored frames",
};
export const cutWhat = (what: string) => cuts[what] ?? what;

const symbols: Record<string, string> = {
  ok: "named",
  stripped: "stripped: no names in the file",
  missing: "file not found",
  mismatch: "another build was found",
};
export const symbolStatus = (status: string | undefined) => (status ? (symbols[status] ?? status) : "");
