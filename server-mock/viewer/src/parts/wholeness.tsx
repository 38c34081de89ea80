// SPDX-License-Identifier: Apache-2.0
//
// What is missing from a report, named plainly: nobody should trust a stack that
// was cut without knowing it.
import { count, hex } from "../format";
import type { Report } from "../types";
import { cutWhat } from "../words";

export function Wholeness({ report }: { report: Report }) {
  const cuts = report.cut ?? [];
  const problems = report.problems ?? [];
  if (report.complete !== false && cuts.length === 0 && problems.length === 0) {
    return null;
  }
  return (
    <section class="notice warned" aria-label="What is missing">
      <h2>{report.complete === false ? "This report is not whole" : "Some things were left out"}</h2>
      <ul>
        {cuts.map((cut, i) => (
          <li key={i}>
            {cut.dropped.toLocaleString("en")} {cutWhat(cut.what)} left out, {cut.kept.toLocaleString("en")} kept
            {cut.thread !== undefined && `, in thread ${cut.thread}`}
          </li>
        ))}
        {problems.map((problem, i) => (
          <li key={i}>
            {problem.text}
            {problem.offset !== undefined && <span class="muted"> (at {hex(problem.offset)} of the file)</span>}
          </li>
        ))}
        {cuts.length + problems.length === 0 && (
          <li>
            The writer did not come to its end; {count(report.threads?.length ?? 0, "thread")} were written before.
          </li>
        )}
      </ul>
    </section>
  );
}
