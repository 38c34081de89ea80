// SPDX-License-Identifier: Apache-2.0
//
// node viewer_test.mjs URL TOKEN [REPORT FUNCTION]; started by run.
import { check, finish, launch, test, visit } from "./harness.mjs";
import { decoded, leastReaderAt, load, put, renamed } from "./reports.mjs";

const [base, token, givenReport, givenFunction] = process.argv.slice(2);
const samples = process.env.CAIRN_SAMPLES;
const simple = load(`${samples}/simple.cairn`);
const rich = load(`${samples}/rich.cairn`);
const whole = renamed(rich, 0xc1);
const cut = { ...whole, bytes: whole.bytes.subarray(0, 3000) };
const tooNew = renamed(simple, 0xc2, (bytes) => bytes.writeUInt16LE(255, leastReaderAt));

const widths = [1400, 400];
const text = (page, selector) => page.locator(selector).allInnerTexts();

async function emptyServer(browser) {
  await visit(browser, { name: "empty", url: `${base}/`, width: 400 }, async (page, label) => {
    check((await page.textContent("main")).includes("No crash has been reported yet"), `${label}: says that it is empty`);
  });
}

async function fill() {
  for (const [report, name] of [[simple, "simple"], [rich, "rich"], [cut, "cut"], [tooNew, "too new"]]) {
    check((await put(base, token, report)) === 201, `the server takes the report ${name}`);
    await decoded(base, report);
  }
  check((await put(base, token, simple)) === 200, "the server knows it when it comes again");
}

async function issueList(browser, width) {
  await visit(browser, { name: "issues", url: `${base}/`, width }, async (page, label) => {
    const titles = await text(page, ".issues .title");
    check(titles.some((title) => title.includes("crash_here")), `${label}: the crash is listed`, titles.join("\n"));
    check((await page.locator(".spark").count()) === titles.length, `${label}: every issue has its trend`);
    check((await page.textContent("main")).includes("cannot be decoded"), `${label}: counts what cannot be decoded`);
    await page.locator(".issues .title", { hasText: "crash_here" }).click();
    await page.locator(".trend canvas").waitFor();
    check(/\/issues\/\d+$/.test(page.url()), `${label}: leads to the issue`);
    await page.getByText("Open the latest report").click();
    await page.locator(".stack").first().waitFor();
    check(page.url() === `${base}/reports/${simple.uuid}`, `${label}: and on to the report`, page.url());
    await page.goBack();
    await page.locator(".trend canvas").waitFor();
    check(/\/issues\/\d+$/.test(page.url()), `${label}: back goes back`);
  });
}

// Checks a report's page; `wanted` must be in the crashed thread's stack.
async function reportPage(browser, { name, uuid, wanted, scheme, width }, more = async () => {}) {
  await visit(browser, { name, url: `${base}/reports/${uuid}`, width, scheme }, async (page, label) => {
    const frames = await page.locator(".main > section").first().locator(".stack .function").allInnerTexts();
    check(frames.some((frame) => frame.includes(wanted)), `${label}: ${wanted} is in the crashed stack`, frames.join("\n"));
    check((await page.title()).includes("Cairn"), `${label}: the page has a title`);
    await more(page, label);
  });
}

async function simplePage(page, label) {
  const where = await page.locator(".summary").innerText();
  check(/SIGSEGV/.test(where) && /null page/.test(where), `${label}: says why`, where);
  check(/main\.cc:12/.test(where), `${label}: says where`, where);
  check((await text(page, ".registers dt")).includes("rip"), `${label}: registers are there`);
  await page.getByLabel("Addresses").check();
  check((await page.locator(".stack .address").count()) > 0, `${label}: addresses can be shown`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("Copy as text").click();
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied.includes("crash_here") && copied.includes("rip"), `${label}: copies the report as text`, copied);
}

async function richPage(page, label) {
  check((await page.locator(".call.inlined").count()) > 0, `${label}: inlined calls are marked`);
  check((await page.locator(".call.weak").count()) > 0, `${label}: weak frames are marked`);
  const notice = await page.locator(".notice").innerText();
  check(/3 threads left out/.test(notice), `${label}: names what was cut`, notice);
  check((await page.locator("details.thread").count()) < 10, `${label}: equal stacks are folded`);
  // By keyboard alone.
  await page.locator("details.thread summary").first().focus();
  await page.keyboard.press("Enter");
  check(await page.locator("details.thread").first().evaluate((d) => d.open), `${label}: threads open by keyboard`);
  check((await page.locator(".crumbs li").count()) > 0, `${label}: breadcrumbs are there`);
  await page.locator("details.images summary").click();
  check((await page.locator(".images li").count()) > 3, `${label}: images are there`);
}

async function brokenReports(browser) {
  await visit(browser, { name: "cut", url: `${base}/reports/${cut.uuid}`, width: 400 }, async (page, label) => {
    check((await page.textContent(".notice")).includes("not whole"), `${label}: says that it is not whole`);
  });
  await visit(browser, { name: "too-new", url: `${base}/reports/${tooNew.uuid}`, width: 400 }, async (page, label) => {
    check((await page.textContent("h1")).includes("cannot be decoded"), `${label}: says that it cannot be decoded`);
    check((await page.getByText("Raw file").count()) === 1, `${label}: gives the bytes`);
  });
}

async function absentThings(browser) {
  const missing = ["404"];
  const nobody = "00000000-0000-4000-8000-000000000000";
  for (const [name, path, expect] of [
    ["no-report", `/reports/${nobody}`, "no such report"],
    ["no-issue", "/issues/999", "no such issue"],
    ["no-page", "/nothing", "no page at this address"],
  ]) {
    await visit(browser, { name, url: base + path, width: 400, expect: missing }, async (page, label) => {
      check((await page.textContent("h1")).includes(expect), `${label}: says so`, await page.textContent("main"));
    });
  }
  await visit(browser, { name: "away", url: `${base}/`, width: 400, expect: ["ERR_FAILED", "net::"] }, async (page, label) => {
    await page.route("**/api/**", (route) => route.abort());
    await page.getByText("Reports", { exact: true }).first().click();
    await page.locator("[role=alert]").waitFor();
    check((await page.textContent("[role=alert]")).includes("does not answer"), `${label}: says that the server is away`);
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".reports .title").first().waitFor();
    check(true, `${label}: and tries again`);
  });
}

async function given(browser) {
  const report = load(givenReport);
  check([200, 201].includes(await put(base, token, report)), `the server takes ${givenReport}`);
  await decoded(base, report);
  for (const width of widths) {
    await reportPage(browser, { name: "given", uuid: report.uuid, wanted: givenFunction, width });
  }
}

const browser = await launch();
await test("the empty server", () => emptyServer(browser));
await test("reports are put", fill);
for (const width of widths) {
  await test(`the list of issues at ${width} px`, () => issueList(browser, width));
  await test(`the simple report at ${width} px`, () =>
    reportPage(browser, { name: "simple", uuid: simple.uuid, wanted: "crash_here", width }, simplePage));
  await test(`the rich report at ${width} px`, () =>
    reportPage(browser, { name: "rich", uuid: rich.uuid, wanted: "player::Bits::Next", width, scheme: "dark" }, richPage));
  await test(`the list of reports at ${width} px`, () =>
    visit(browser, { name: "reports", url: `${base}/reports`, width }, async (page, label) => {
      check((await page.locator(".reports tbody tr").count()) === 4, `${label}: every report is listed`);
    }));
}
await test("broken reports", () => brokenReports(browser));
await test("what is not there", () => absentThings(browser));
if (givenReport) {
  await test("the given report", () => given(browser));
}
await browser.close();
finish();
