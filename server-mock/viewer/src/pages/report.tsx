// SPDX-License-Identifier: Apache-2.0
//
// One report: what died, why, where; the crashed thread's stack; then the rest.
import { useState } from "preact/hooks";
import { report as reportOf, useLoaded } from "../api";
import { threadName } from "../format";
import { CopyButton } from "../parts/copy";
import { Breadcrumbs, Images, Keys } from "../parts/details";
import { AllFacts } from "../parts/facts";
import { HexDump } from "../parts/memory";
import { Registers } from "../parts/registers";
import { useTitle } from "../parts/shell";
import { Stack } from "../parts/stack";
import { Show } from "../parts/states";
import { OtherThreads, describe } from "../parts/threads";
import { Wholeness } from "../parts/wholeness";
import { crashedThread, culprit, headline, what, where, why } from "../summary";
import { asText } from "../text";
import type { Report, Thread } from "../types";
import { kind } from "../words";

export function ReportPage({ uuid }: { uuid: string }) {
  const loaded = useLoaded(`report ${uuid}`, reportOf(uuid));
  useTitle(loaded.state === "ready" ? headline(loaded.value) : "Report");
  return (
    <Show of={loaded} what="report">
      {(report) => (report.threads ? <Decoded report={report} /> : <Undecoded report={report} />)}
    </Show>
  );
}

function Decoded({ report }: { report: Report }) {
  const [addresses, setAddresses] = useState(false);
  const crashed = crashedThread(report);
  const others = (report.threads ?? []).filter((thread) => thread !== crashed);
  return (
    <>
      <Head report={report} />
      <Wholeness report={report} />
      <div class="columns">
        <div class="main">
          <section>
            <div class="with-switch">
              <h2>
                {crashed?.crashed === false ? "Thread" : "Crashed thread"}{" "}
                {crashed && <span class="muted">{threadName(crashed)}</span>}
              </h2>
              <label>
                <input
                  type="checkbox"
                  checked={addresses}
                  onInput={(event) => setAddresses(event.currentTarget.checked)}
                />{" "}
                Addresses
              </label>
            </div>
            {crashed ? <Crashed report={report} thread={crashed} addresses={addresses} /> : <p>No thread is in the report.</p>}
          </section>
          <OtherThreads threads={others} addresses={addresses} />
          <Memory report={report} />
          <Images report={report} />
        </div>
        <aside>
          <Breadcrumbs report={report} />
          <Keys report={report} />
          <AllFacts report={report} />
        </aside>
      </div>
    </>
  );
}

function Head({ report }: { report: Report }) {
  return (
    <div class="heading">
      <p class="kind">
        <span class={report.kind === "crash" ? "chip bad" : "chip"}>{kind(report.kind)}</span>
        {report.app?.environment && <span class="chip">{report.app.environment}</span>}
        {report.complete === false && <span class="chip warn">not whole</span>}
      </p>
      <h1 class="headline">{headline(report)}</h1>
      <dl class="summary">
        <div>
          <dt>What</dt>
          <dd>{what(report)}</dd>
        </div>
        <div>
          <dt>Why</dt>
          <dd>
            {why(report).map((fact) => (
              <div class="fact" key={fact.label}>
                <span class="muted">{fact.label}</span> <span>{fact.text}</span>
              </div>
            ))}
          </dd>
        </div>
        <div>
          <dt>Where</dt>
          <dd class="mono">{where(report)}</dd>
        </div>
      </dl>
      <Actions report={report} />
    </div>
  );
}

function Actions({ report }: { report: Report }) {
  const address = `/api/v1/reports/${report.server.uuid}`;
  return (
    <p class="actions">
      {report.threads && <CopyButton text={() => asText(report)} />}
      {report.server.issue !== undefined && (
        <a class="button" href={`/issues/${report.server.issue}`}>
          Issue {report.server.issue}
        </a>
      )}
      <a class="button" href={address}>
        JSON
      </a>
      <a class="button" href={`${address}/raw`} download={`${report.server.uuid}.cairn`}>
        Raw file
      </a>
    </p>
  );
}

function Crashed({ report, thread, addresses }: { report: Report; thread: Thread; addresses: boolean }) {
  const stack = thread.stack;
  return (
    <>
      <p class="muted small">{describe(thread)}</p>
      <Stack thread={thread} addresses={addresses} culprit={culprit(report)} />
      <h3>Registers</h3>
      <Registers thread={thread} />
      {stack?.bytes && stack.address && (
        <HexDump title="Stack memory" address={stack.address} hex={stack.bytes} />
      )}
    </>
  );
}

function Memory({ report }: { report: Report }) {
  const all = report.memory ?? [];
  return all.length === 0 ? null : (
    <section>
      <h2>Memory</h2>
      {all.map((memory) => (
        <HexDump
          key={memory.address}
          title={memory.reason ? `Near ${memory.reason}` : "Memory"}
          address={memory.address}
          hex={memory.bytes}
        />
      ))}
    </section>
  );
}

function Undecoded({ report }: { report: Report }) {
  const waiting = report.server.state === "waiting";
  return (
    <section class={waiting ? "notice" : "notice bad"}>
      <h1>{waiting ? "This report is being decoded" : "This report cannot be decoded"}</h1>
      <p>{waiting ? "It is safe on the server. Load the page again in a moment." : report.server.problem}</p>
      <p>Its bytes are kept as they came.</p>
      <Actions report={report} />
    </section>
  );
}
