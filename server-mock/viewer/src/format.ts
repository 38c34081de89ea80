// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and names as people read them.
import type { App, Frame, Thread } from "./types";

// "2026-12-01 00:46:33 UTC"
export function time(text: string | undefined): string {
  const date = new Date(text ?? "");
  return Number.isNaN(date.getTime())
    ? (text ?? "unknown")
    : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function ago(text: string, now = Date.now()): string {
  const seconds = Math.round((now - new Date(text).getTime()) / 1000);
  if (Number.isNaN(seconds)) {
    return "";
  }
  const steps: [number, string][] = [
    [86400 * 365, "y"],
    [86400 * 30, "mo"],
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
  ];
  for (const [size, unit] of steps) {
    if (Math.abs(seconds) >= size) {
      return seconds < 0 ? `in ${Math.floor(-seconds / size)} ${unit}` : `${Math.floor(seconds / size)} ${unit} ago`;
    }
  }
  return seconds < 0 ? "in a moment" : "just now";
}

export function bytes(count: number | undefined): string {
  if (count === undefined) {
    return "unknown";
  }
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) {
    return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min ${Math.floor(seconds % 60)} s`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export const count = (number: number, one: string, many = `${one}s`) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const hex = (number: number) => `0x${number.toString(16)}`;

export const baseName = (path: string | undefined) => (path ?? "").replace(/^.*\//, "");

export const version = (app: App | undefined) =>
  [app?.version, app?.build && `(${app.build})`].filter(Boolean).join(" ");

export const threadName = (thread: Thread) => thread.name || `thread ${thread.id}`;

// What a frame is called where there is no function name.
export const place = (frame: Frame) =>
  frame.module ? `${frame.module}+${frame.module_offset ?? "?"}` : frame.address;

export const frameName = (frame: Frame) => frame.function || place(frame);

export const source = (frame: Frame) =>
  frame.file ? `${frame.file}${frame.line ? `:${frame.line}${frame.column ? `:${frame.column}` : ""}` : ""}` : "";
