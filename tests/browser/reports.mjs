// SPDX-License-Identifier: Apache-2.0
//
// Report files as the server takes them.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// Places in the file header, src/format/report_format.h.
const crcAt = 20;
const uuidAt = 24;
export const leastReaderAt = 10;

export function load(path) {
  const bytes = readFileSync(path);
  const hex = bytes.subarray(uuidAt, uuidAt + 16).toString("hex");
  return { bytes, uuid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") };
}

function crc32c(crc, bytes) {
  let state = ~crc;
  for (const byte of bytes) {
    state ^= byte;
    for (let i = 0; i < 8; i += 1) {
      state = (state >>> 1) ^ (state & 1 ? 0x82f63b78 : 0);
    }
  }
  return ~state >>> 0;
}

// The same file under another uuid, and with `change` done to its header.
export function renamed({ bytes }, last, change = () => {}) {
  const copy = Buffer.from(bytes);
  copy[uuidAt + 15] = last;
  change(copy);
  const first = crc32c(0, copy.subarray(0, crcAt));
  copy.writeUInt32LE(crc32c(first, copy.subarray(uuidAt, uuidAt + 16)), crcAt);
  const hex = copy.subarray(uuidAt, uuidAt + 16).toString("hex");
  return { bytes: copy, uuid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") };
}

export async function put(base, token, report) {
  const answer = await fetch(`${base}/api/v1/reports/${report.uuid}`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}`, "Content-Encoding": "gzip" },
    body: gzipSync(report.bytes),
  });
  return answer.status;
}

// Waits until nothing is waiting to be decoded.
export async function decoded(base, report) {
  const answer = await fetch(`${base}/api/v1/reports/${report.uuid}`);
  return answer.json();
}
