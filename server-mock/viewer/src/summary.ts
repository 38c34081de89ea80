// SPDX-License-Identifier: Apache-2.0
//
// What died, why, where: the three sentences that a report opens with, made from
// its facts.
import { frameName, source, threadName, version } from "./format";
import type { Frame, Report, Thread } from "./types";
import { faultKind, kind } from "./words";

export interface Fact {
  label: string;
  text: string;
}

export const crashedThread = (report: Report): Thread | undefined =>
  report.threads?.find((thread) => thread.crashed) ?? report.threads?.[0];

export function what(report: Report): string {
  const program = report.process?.name || report.app?.id || "The program";
  const edition = version(report.app);
  const pid = report.process?.pid === undefined ? "" : `, process ${report.process.pid}`;
  return `${program}${edition && ` ${edition}`}${pid}`;
}

function signalFacts(report: Report): Fact[] {
  const signal = report.signal;
  if (!signal) {
    return [];
  }
  const facts = [{ label: "Signal", text: `${signal.name}${signal.meaning ? `: ${signal.meaning}` : ""} (${signal.code_name})` }];
  if (signal.fault_address) {
    const meaning = faultKind(signal.fault_kind);
    facts.push({ label: "Address", text: `${signal.fault_address}${meaning && `: ${meaning}`}` });
  }
  if (signal.sender_pid !== undefined) {
    const own = signal.sender_pid === report.process?.pid ? ", this process itself" : "";
    facts.push({ label: "Sent by", text: `process ${signal.sender_pid}${own}` });
  }
  if (signal.syscall !== undefined) {
    facts.push({ label: "System call", text: `number ${signal.syscall}` });
  }
  return facts;
}

export function why(report: Report): Fact[] {
  const facts: Fact[] = [];
  if (report.exception) {
    const { type, type_mangled, message } = report.exception;
    facts.push({ label: "Exception", text: `${type ?? type_mangled ?? "of unknown type"}${message ? `: ${message}` : ""}` });
  }
  if (report.abort_message) {
    facts.push({ label: "Last words", text: report.abort_message });
  }
  if (report.message) {
    facts.push({ label: "Message", text: report.message });
  }
  facts.push(...signalFacts(report));
  if (report.mach) {
    const { exception, code, code_name, subcode } = report.mach;
    facts.push({ label: "Mach", text: `${exception}, code ${code_name ?? code}, subcode ${subcode}` });
  }
  return facts.length > 0 ? facts : [{ label: "Kind", text: kind(report.kind) }];
}

// The frame to look at first, by the server's judgement.
export const culprit = (report: Report): Frame | undefined =>
  crashedThread(report)?.frames[report.server.culprit ?? 0];

const inThread = (thread: Thread) => (thread.name ? `thread ${thread.name}` : threadName(thread));

export function where(report: Report): string {
  const thread = crashedThread(report);
  const frame = culprit(report);
  if (!thread) {
    return "unknown: no thread is in the report";
  }
  if (!frame) {
    return `${inThread(thread)}, which has no stack in the report`;
  }
  const file = source(frame);
  const module = frame.module ? ` in ${frame.module}` : "";
  return `${frameName(frame)}${frame.function ? module : ""}${file && `, ${file}`}, ${inThread(thread)}`;
}

export function headline(report: Report): string {
  return report.server.title || (report.signal ? report.signal.name : kind(report.kind));
}
