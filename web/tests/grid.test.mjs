// The page before a real coordinator whose real agent runs real programs, in their sandbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { grid } from "./grid.mjs";
import { api, browser as launch, open, signedIn, until } from "./showcase.mjs";

let world;
let browser;

before(async () => {
  [world, browser] = await Promise.all([grid(), launch()]);
});

after(async () => {
  await browser?.close();
  await world?.stop();
});

/** A shell script as a job of one task; returns its number. */
const submit = async (script, ...options) => (await world.json("submit", ...options, "--", "sh", "-c", script)).job;

test("both streams of a program are seen as they come, and a click ends it", async () => {
  const page = await signedIn(browser, world, "ada");
  const job = await submit("i=0; while :; do i=$((i + 1)); echo out $i; echo err $i >&2; sleep 0.2; done", "--name", "counts");
  await open(page, world, "/");
  await page.getByRole("table", { name: "Jobs" }).getByRole("link", { name: "counts" }).click();
  await page.getByRole("table", { name: /^Tasks/ }).getByText("running").waitFor({ timeout: 60_000 });
  await page.getByRole("table", { name: /^Tasks/ }).getByRole("link").first().click();
  for (const [stream, word] of [["stdout", "out"], ["stderr", "err"]]) {
    const output = page.locator(`pre[data-stream=${stream}]`);
    await output.getByText(`${word} 1\n`).waitFor({ timeout: 60_000 });
    const seen = async () => Number((await output.innerText()).trim().split(" ").at(-1));
    const before = await seen();
    await until(seen, (line) => line > before, `${stream} goes on without asking`);
  }
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: /cancelled/ }).waitFor({ timeout: 60_000 });
  const state = async () => (await world.json("status", String(job))).state;
  await until(state, (state) => state === "cancelled", "the coordinator has it so");
  const machines = async () => (await api(page, world, "ada", "GET", "/api/v1/machines")).body.machines;
  await until(machines, ([machine]) => machine.tasks === 0, "its program has ended");
  await page.context().close();
});

test("what a program wrote is text, and a line of ten megabytes is cut", async () => {
  const page = await signedIn(browser, world, "ada");
  const nasty = "printf '<img src=x onerror=document.title=1>\\033[31mred\\033[0m \\342\\200\\256back\\n'";
  const job = await submit(`${nasty}; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 3`);
  await open(page, world, `/jobs/${job}`);
  await page.getByText(/its program ended with exit code 3/).waitFor({ timeout: 60_000 });
  await open(page, world, `/jobs/${job}/tasks/0`);
  const output = page.locator("pre[data-stream=stdout]");
  await page.getByRole("button", { name: "Read on" }).click({ timeout: 60_000 });
  await output.getByText("the end").waitFor();
  assert.ok((await output.innerText()).length < 10_000);
  const first = await submit(nasty);
  await open(page, world, `/jobs/${first}/tasks/0`);
  await output.getByText("onerror").waitFor({ timeout: 60_000 });
  assert.equal((await output.innerText()).trim(), "<img src=x onerror=document.title=1>red \ufffdback");
  assert.notEqual(await page.title(), "1");
  await page.context().close();
});

test("after a start of the coordinator an open page goes on, and the day is there", async () => {
  const page = await signedIn(browser, world, "ada");
  const job = await submit("echo before", "--name", "before");
  const ended = async () => (await world.json("status", String(job))).state;
  await until(ended, (state) => state === "done", "it is done");
  await open(page, world, "/stream");
  const bars = page.getByRole("application", { name: /Task stream: \d+ runs? on 1 machine/ });
  await bars.waitFor();
  const runs = async () => (await api(page, world, "ada", "GET", "/api/v1/day/runs")).body.runs;
  const before = await runs();
  assert.ok(before.some((run) => run.job === job && run.state === "done"), JSON.stringify(before));
  await world.end();
  await page.getByText("reconnecting…").waitFor({ timeout: 60_000 });
  await world.start();
  await page.getByText("live", { exact: true }).waitFor({ timeout: 60_000 });
  assert.deepEqual(await runs(), before);
  await page.reload();
  await bars.waitFor();
  // It goes on: the agent is back, and takes tasks.
  const next = await submit("echo after", "--name", "after");
  const state = async () => (await world.json("status", String(next))).state;
  await until(state, (state) => state === "done", "a task runs after the start");
  await page.context().close();
});

test("the last day is run again under a policy in words, and a mistake is told", async () => {
  const page = await signedIn(browser, world, "ada");
  await page.goto(`${world.address}/#/what-if`);
  const words = page.getByLabel(/With these keys/);
  for (const [base, written, heading] of [
    ["bertasi/greedy", "relocate.gain_min = 0.05\nrelocate.score = social", /as asked: greedy, relocation by social .* above 0\.05/],
    ["in force", 'relocate = { score = "min-num", moves_max = 2 } # fewest first', /as asked: .*relocation by min-num at events, at most 2 moves/],
    // As `gleaner policy show` prints it.
    ["in force", await world.cli("policy", "show", "bertasi/social"), /as asked: social, no relocation/],
  ]) {
    await page.getByRole("combobox").selectOption(base);
    await words.fill(written);
    await page.getByRole("button", { name: "Run it again" }).click();
    await page.getByRole("heading", { name: heading }).waitFor({ timeout: 60_000 });
  }
  for (const [written, told] of [
    ["relocate.gain = 1", /relocate\.gain: found an unknown key/],
    ["choose = bets", /choose: found "bets"; expected/],
    ["nonsense", /line 1: found nonsense; expected key = value/],
  ]) {
    await words.fill(written);
    await page.getByRole("button", { name: "Run it again" }).click();
    await page.getByRole("alert").getByText(told).waitFor();
  }
  await page.context().close();
});
