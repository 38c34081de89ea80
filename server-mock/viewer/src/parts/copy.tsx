// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";

// Without a secure context there is no clipboard API; selecting works always.
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

export function CopyButton({ text }: { text: () => string }) {
  const [said, setSaid] = useState("");
  const act = async () => {
    setSaid((await copy(text())) ? "Copied" : "The browser refused");
    setTimeout(() => setSaid(""), 3000);
  };
  return (
    <>
      <button type="button" onClick={() => void act()}>
        Copy as text
      </button>
      <span role="status" class="muted">
        {said}
      </span>
    </>
  );
}
