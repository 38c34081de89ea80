// SPDX-License-Identifier: Apache-2.0
import { bytes as size } from "../format";

const perLine = 16;
const mostLines = 512;

function line(hex: string, address: bigint, i: number): string {
  const pairs = hex.slice(i * perLine * 2, (i + 1) * perLine * 2).match(/../g) ?? [];
  const text = pairs.map((pair) => {
    const code = parseInt(pair, 16);
    return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "·";
  });
  const at = (address + BigInt(i * perLine)).toString(16).padStart(12, "0");
  return `${at}  ${pairs.join(" ").padEnd(perLine * 3 - 1)}  ${text.join("")}`;
}

// Bytes as hexadecimal and text; the first 8 KiB of them.
export function HexDump({ title, address, hex }: { title: string; address: string; hex: string }) {
  const lines = Math.ceil(hex.length / 2 / perLine);
  const shown = Math.min(lines, mostLines);
  const dump = Array.from({ length: shown }, (_, i) => line(hex, BigInt(address), i)).join("\n");
  return (
    <details class="dump">
      <summary>
        {title} <span class="muted">{`${size(hex.length / 2)} at ${address}`}</span>
      </summary>
      <pre tabIndex={0}>{dump}</pre>
      {shown < lines && <p class="muted small">The rest is in the JSON and the raw file.</p>}
    </details>
  );
}
