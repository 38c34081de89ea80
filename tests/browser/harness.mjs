// SPDX-License-Identifier: Apache-2.0
//
// What every browser test needs: a browser, TAP, and pages that are watched for
// errors and for requests to elsewhere.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = () =>
  chromium.launch({ executablePath: process.env.CAIRN_CHROMIUM ?? "/usr/bin/chromium", args: flags });

let passed = 0;
let failed = 0;

export function check(good, name, detail = "") {
  if (good) {
    passed += 1;
  } else {
    failed += 1;
  }
  console.log(`${good ? "ok" : "not ok"} ${passed + failed} - ${name}`);
  if (!good && detail) {
    console.log(`# ${`${detail}`.replaceAll("\n", "\n# ")}`);
  }
}

// A test that throws is a failed one; the others still run.
export async function test(name, body) {
  try {
    await body();
  } catch (error) {
    check(false, name, error.stack ?? error);
  }
}

export function finish() {
  console.log(`1..${passed + failed}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

// Opens `url` in a window of `width` and gives it to `look`. Afterwards nothing
// may have gone wrong: no error in the console but those that `expect` allows,
// no request to another host, nothing wider than the window.
export async function visit(browser, { name, url, width, scheme = "light", expect = [] }, look) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const errors = [];
  const foreign = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expect.some((allowed) => message.text().includes(allowed))) {
      errors.push(message.text());
    }
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) {
      foreign.push(request.url());
    }
  });
  const label = `${name} at ${width} px, ${scheme}`;
  try {
    await page.goto(url, { waitUntil: "networkidle" });
    await look(page, label);
    const extra = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(extra <= 0, `${label}: no horizontal overflow`, `${extra} px too wide`);
    check(errors.length === 0, `${label}: no error in the console`, errors.join("\n"));
    check(foreign.length === 0, `${label}: no request to elsewhere`, foreign.join("\n"));
    await picture(page, `${name}-${width}-${scheme}`);
  } finally {
    await context.close();
  }
}

async function picture(page, name) {
  const folder = process.env.CAIRN_PICTURES;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }
}
