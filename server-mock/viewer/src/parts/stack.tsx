// SPDX-License-Identifier: Apache-2.0
//
// A thread's calls, innermost first.
import { Fragment } from "preact";
import { count, frameName, hex, place, source } from "../format";
import type { Frame, Thread } from "../types";
import { walkEnd, weakness } from "../words";

interface StackProps {
  thread: Thread;
  addresses: boolean;
  // The frame to look at first.
  culprit?: Frame;
}

export function Stack({ thread, addresses, culprit }: StackProps) {
  if (thread.frames.length === 0) {
    return <p class="muted">No frame of this thread is in the report.</p>;
  }
  const end = walkEnd(thread.end);
  const gap = thread.gap;
  return (
    <ol class="stack">
      {thread.frames.map((frame, i) => (
        <Fragment key={i}>
          {gap?.position === i && <Gap frames={gap.frames} />}
          <Call frame={frame} index={i} addresses={addresses} culprit={frame === culprit} />
        </Fragment>
      ))}
      {gap && gap.position >= thread.frames.length && <Gap frames={gap.frames} />}
      {end && <li class="end warn">{end}</li>}
    </ol>
  );
}

function Gap({ frames }: { frames: number }) {
  return <li class="end warn">… {count(frames, "frame")} left out by the limit …</li>;
}

interface CallProps {
  frame: Frame;
  index: number;
  addresses: boolean;
  culprit: boolean;
}

function Call({ frame, index, addresses, culprit }: CallProps) {
  const weak = weakness(frame.trust);
  const classes = ["call", frame.inlined && "inlined", weak && "weak", culprit && "culprit"].filter(Boolean).join(" ");
  return (
    <li class={classes}>
      <span class="index">{index}</span>
      <span class="body">
        <span class={frame.function ? "function" : "function unnamed"}>
          {frameName(frame)}
          {frame.function && frame.offset !== undefined && frame.offset > 0 && (
            <span class="offset"> + {hex(frame.offset)}</span>
          )}
        </span>
        <Marks frame={frame} />
        {source(frame) && <span class="source">{source(frame)}</span>}
        {addresses && (
          <span class="address">
            {frame.address} {frame.kind} {frame.trust}
            {frame.function_mangled && ` ${frame.function_mangled}`}
          </span>
        )}
      </span>
      {frame.function && (
        <span class="module" title={frame.module_path}>
          {frame.inlined ? "" : place(frame)}
        </span>
      )}
    </li>
  );
}

function Marks({ frame }: { frame: Frame }) {
  const weak = weakness(frame.trust);
  return (
    <>
      {frame.inlined && <span class="tag">inlined</span>}
      {weak && !frame.inlined && (
        <span class="tag doubt" title={weak.text}>
          {weak.label}: {frame.trust.replace("_", " ")}
        </span>
      )}
      {frame.function && frame.name_sure === false && (
        <span class="tag doubt" title="The file that the name comes from is of another build">
          unsure name
        </span>
      )}
      {frame.kind === "interrupted" && (
        <span class="tag" title="A signal interrupted this function here">
          interrupted
        </span>
      )}
    </>
  );
}
