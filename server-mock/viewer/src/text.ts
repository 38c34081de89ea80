// SPDX-License-Identifier: Apache-2.0
//
// A report as plain text, for a ticket or a chat.
import { count, frameName, place, source, threadName, time } from "./format";
import { groupByStack } from "./groups";
import { crashedThread, headline, what, where, why } from "./summary";
import type { Frame, Report, Thread } from "./types";
import { cutWhat, walkEnd, weakness } from "./words";

function frameLine(frame: Frame, index: number): string {
  const offset = frame.function && frame.offset ? ` + ${frame.offset}` : "";
  const marks = [
    frame.inlined && "inlined",
    weakness(frame.trust)?.label,
    frame.function && frame.name_sure === false && "unsure name",
  ].filter(Boolean);
  const module = frame.function ? `  ${place(frame)}` : "";
  const file = source(frame) && `  ${source(frame)}`;
  return `${`${index}`.padStart(3)}  ${frameName(frame)}${offset}${module}${file}${marks.length > 0 ? `  [${marks.join(", ")}]` : ""}`;
}

function stack(thread: Thread): string[] {
  const lines = thread.frames.map(frameLine);
  if (thread.gap) {
    lines.splice(thread.gap.position, 0, `     … ${count(thread.gap.frames, "frame")} left out …`);
  }
  const end = walkEnd(thread.end);
  return end ? [...lines, `     ${end}`] : lines;
}

function registers(thread: Thread | undefined): string[] {
  const all = Object.entries(thread?.registers ?? {}).map(([name, value]) => `${name.padStart(7)} ${value.padEnd(18)}`);
  const lines: string[] = [];
  for (let i = 0; i < all.length; i += 4) {
    lines.push(all.slice(i, i + 4).join(" ").trimEnd());
  }
  return lines;
}

export function asText(report: Report): string {
  const crashed = crashedThread(report);
  const others = (report.threads ?? []).filter((thread) => thread !== crashed);
  const lines = [headline(report), "", `What:  ${what(report)}`];
  lines.push(...why(report).map((fact) => `Why:   ${fact.label}: ${fact.text}`));
  lines.push(`Where: ${where(report)}`, `When:  ${time(report.time ?? report.server.received)}`);
  lines.push(`Report: ${location.origin}/reports/${report.server.uuid}`);
  for (const cut of report.cut ?? []) {
    lines.push(`Cut:   ${cut.dropped} ${cutWhat(cut.what)} left out, ${cut.kept} kept`);
  }
  for (const problem of report.problems ?? []) {
    lines.push(`Problem: ${problem.text}`);
  }
  if (crashed) {
    lines.push("", `Thread ${crashed.id} ${crashed.name ?? ""} ${crashed.crashed ? "(crashed)" : ""}`.trimEnd());
    lines.push(...stack(crashed), "", ...registers(crashed));
  }
  for (const group of groupByStack(others)) {
    lines.push("", group.threads.map(threadName).join(", "), ...stack(group.first));
  }
  return `${lines.join("\n")}\n`;
}
