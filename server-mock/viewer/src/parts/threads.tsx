// SPDX-License-Identifier: Apache-2.0
import { count, duration, threadName } from "../format";
import { gist, groupByStack } from "../groups";
import type { ThreadGroup } from "../groups";
import type { Thread } from "../types";
import { threadState } from "../words";
import { Registers } from "./registers";
import { Stack } from "./stack";

export function OtherThreads({ threads, addresses }: { threads: Thread[]; addresses: boolean }) {
  const groups = groupByStack(threads);
  return (
    <section>
      <h2>
        Other threads <span class="muted">{threads.length}</span>
      </h2>
      {threads.length === 0 ? (
        <p class="muted">The process had no other thread.</p>
      ) : (
        groups.map((group) => <Group key={group.first.id} group={group} addresses={addresses} />)
      )}
    </section>
  );
}

function Group({ group, addresses }: { group: ThreadGroup; addresses: boolean }) {
  const { threads, first } = group;
  const several = threads.length > 1;
  return (
    <details class="thread">
      <summary>
        <span class="who">
          {several && <b class="many">{threads.length} ×</b>}
          {threads.slice(0, 4).map(threadName).join(", ")}
          {threads.length > 4 && ` and ${threads.length - 4} more`}
        </span>
        <span class="gist">{gist(first)}</span>
      </summary>
      <p class="muted small">
        {several ? `${count(threads.length, "thread")} with the same stack: ` : ""}
        {threads.map(describe).join("; ")}
      </p>
      <Stack thread={first} addresses={addresses} />
      {!several && <Registers thread={first} />}
    </details>
  );
}

export function describe(thread: Thread): string {
  return [
    thread.name && `“${thread.name}”`,
    `id ${thread.id}`,
    threadState(thread.state),
    thread.cpu_time_ms !== undefined && `${duration(thread.cpu_time_ms)} of processor time`,
    thread.frozen_by === "none" && "was not stopped while it was read",
  ]
    .filter(Boolean)
    .join(", ");
}
