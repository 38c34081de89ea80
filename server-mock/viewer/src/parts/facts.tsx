// SPDX-License-Identifier: Apache-2.0
//
// The side column: program, process, machine, report.
import { bytes, duration, version } from "../format";
import type { Report } from "../types";
import { When } from "./when";
import type { ComponentChildren } from "preact";

type Row = [string, ComponentChildren];

function Facts({ title, rows }: { title: string; rows: Row[] }) {
  const known = rows.filter(([, value]) => value !== undefined && value !== "");
  return known.length === 0 ? null : (
    <section>
      <h2>{title}</h2>
      <dl class="facts">
        {known.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function AllFacts({ report }: { report: Report }) {
  const { app, process, host, server } = report;
  return (
    <>
      <Facts
        title="Program"
        rows={[
          ["App", app?.id],
          ["Version", version(app)],
          ["Environment", app?.environment],
          ["Process", process?.name && `${process.name}${process.pid === undefined ? "" : ` (${process.pid})`}`],
          ["Parent", process?.parent_pid],
          ["Path", process?.path],
          ["Arguments", process?.args?.join(" ")],
          ["Had run for", process?.uptime_ms === undefined ? undefined : duration(process.uptime_ms)],
        ]}
      />
      <Facts
        title="Machine"
        rows={[
          ["System", host?.os],
          ["Kernel", host?.kernel],
          ["Processor", host?.cpu ?? host?.cpu_type],
          ["Architecture", report.arch],
          ["Cores", host?.cores],
          ["Memory", host?.memory_bytes === undefined ? undefined : bytes(host.memory_bytes)],
        ]}
      />
      <Facts
        title="Report"
        rows={[
          ["Happened", report.time && <When at={report.time} exact={true} />],
          ["Received", <When at={server.received} exact={true} />],
          ["Uuid", <code>{server.uuid}</code>],
          ["Size", bytes(server.bytes)],
          ["Signature", server.signature && `${server.signature} (version ${server.signature_version})`],
          ["Written", report.stages && <Stages report={report} />],
        ]}
      />
    </>
  );
}

function Stages({ report }: { report: Report }) {
  return (
    <>
      {(report.stages ?? []).map((stage, i) => (
        <div key={i}>
          {stage.done === 1 ? "own thread" : "all threads"} in {(stage.elapsed_ns / 1e6).toFixed(1)} ms
          {stage.frozen_by !== "none" && `, stopped by ${stage.frozen_by}`}
          {stage.timed_out && ", timed out"}
          {stage.errno !== undefined && `, error ${stage.errno}`}
        </div>
      ))}
    </>
  );
}
