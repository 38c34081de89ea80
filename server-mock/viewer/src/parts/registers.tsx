// SPDX-License-Identifier: Apache-2.0
import type { Thread } from "../types";

const width = (value: string) => value.replace(/^0x/, "").padStart(16, "0");

// Leading zeros are shown, dimmed: values of equal rank stand below each other.
export function Registers({ thread }: { thread: Thread }) {
  const all = Object.entries(thread.registers ?? {});
  if (all.length === 0) {
    return <p class="muted">No registers of this thread are in the report.</p>;
  }
  return (
    <dl class="registers">
      {all.map(([name, value]) => {
        const digits = width(value);
        const zeros = /^0*/.exec(digits)![0].slice(0, 15);
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span class="zeros">{zeros}</span>
              {digits.slice(zeros.length)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
