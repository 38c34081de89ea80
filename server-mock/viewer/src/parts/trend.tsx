// SPDX-License-Identifier: Apache-2.0
//
// Reports a day over two months. The chart's code loads with the first issue
// page, not before.
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Day } from "../types";

const height = 150;

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function options(Chart: typeof uPlot, width: number): uPlot.Options {
  const axis = { stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { time: true }, y: { range: (_chart, _low, high) => [0, Math.max(4, Math.ceil(high * 1.1))] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 28,
        values: (_chart, splits) => splits.map((s) => new Date(s * 1000).toISOString().slice(5, 10)),
      },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000, 100000] },
    ],
    series: [
      {},
      {
        label: "Reports",
        fill: color("--bar"),
        stroke: color("--bar"),
        paths: Chart.paths.bars!({ size: [0.7, 24, 2] }),
        points: { show: false },
      },
    ],
  };
}

function data(days: Day[]): uPlot.AlignedData {
  return [days.map((day) => Date.parse(`${day.day}T00:00:00Z`) / 1000), days.map((day) => day.count || null)];
}

// Draws into `box` until the returned function is called.
function draw(Chart: typeof uPlot, box: HTMLElement, days: Day[]): () => void {
  let chart: uPlot | undefined;
  const build = () => {
    chart?.destroy();
    const settings = options(Chart, Math.max(200, box.clientWidth));
    chart = new Chart({ ...settings, tzDate: (s) => Chart.tzDate(new Date(s * 1000), "Etc/UTC") }, data(days), box);
  };
  build();
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const resize = new ResizeObserver(() => chart?.setSize({ width: Math.max(200, box.clientWidth), height }));
  scheme.addEventListener("change", build);
  resize.observe(box);
  return () => {
    scheme.removeEventListener("change", build);
    resize.disconnect();
    chart?.destroy();
  };
}

export function Trend({ days }: { days: Day[] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let stop: (() => void) | undefined;
    let gone = false;
    void import("./chart").then(({ Chart }) => {
      if (!gone && box.current) {
        stop = draw(Chart, box.current, days);
      }
    });
    return () => {
      gone = true;
      stop?.();
    };
  }, [days]);
  const total = days.reduce((sum, day) => sum + day.count, 0);
  const peak = days.reduce((best, day) => (day.count > best.count ? day : best), days[0] ?? { day: "", count: 0 });
  return (
    <figure class="trend">
      <figcaption>
        Reports a day, UTC: {total} in {days.length} days
        {total > 0 && `, most on ${peak.day} (${peak.count})`}
      </figcaption>
      <div ref={box} class="chart" aria-hidden="true" />
    </figure>
  );
}
