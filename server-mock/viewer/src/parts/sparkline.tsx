// SPDX-License-Identifier: Apache-2.0
import type { Day } from "../types";

const barWidth = 5;
const gap = 2;
const height = 24;

// Reports a day as bars; every day has a mark, so that none is mistaken for
// missing.
export function Sparkline({ days }: { days: Day[] }) {
  const most = Math.max(1, ...days.map((day) => day.count));
  const total = days.reduce((sum, day) => sum + day.count, 0);
  const width = days.length * (barWidth + gap) - gap;
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${total} in the last ${days.length} days, at most ${most} a day`}
    >
      {days.map((day, i) => {
        const bar = day.count === 0 ? 1 : Math.max(3, Math.round((day.count / most) * height));
        return (
          <rect
            key={day.day}
            class={day.count === 0 ? "none" : "some"}
            x={i * (barWidth + gap)}
            y={height - bar}
            width={barWidth}
            height={bar}
          />
        );
      })}
    </svg>
  );
}
