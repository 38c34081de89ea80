// SPDX-License-Identifier: Apache-2.0
//
// Threads with the same stack, put together: a pool of parked workers is one
// line.
import { frameName, place } from "./format";
import type { Thread } from "./types";

export interface ThreadGroup {
  threads: Thread[];
  // The first of them stands for all.
  first: Thread;
}

const key = (thread: Thread) =>
  thread.frames.map((frame) => `${place(frame)} ${frame.inlined ? frame.function : ""}`).join("\n") +
  `\n${thread.end} ${thread.gap?.position} ${thread.gap?.frames}`;

export function groupByStack(threads: Thread[]): ThreadGroup[] {
  const groups = new Map<string, ThreadGroup>();
  for (const thread of threads) {
    const stack = key(thread);
    const group = groups.get(stack);
    if (group) {
      group.threads.push(thread);
    } else {
      groups.set(stack, { threads: [thread], first: thread });
    }
  }
  return [...groups.values()];
}

// The innermost calls in a few words.
export function gist(thread: Thread, calls = 3): string {
  const names = thread.frames.slice(0, calls).map((frame) => frameName(frame).replace(/\(.*$/, ""));
  return names.length === 0 ? "no stack" : names.join(" ← ");
}
