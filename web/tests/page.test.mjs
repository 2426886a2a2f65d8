// The page in a real Chromium, against a real coordinator.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api, browser as launch, open, servedBy, showcase, signedIn, until, VIEWS, withDay } from "./showcase.mjs";

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let world;
let browser;
const faults = [];

before(async () => {
  [world, browser] = await Promise.all([showcase(24, 60), launch()]);
  const page = await as("root");
  await until(
    async () => (await api(page, world, "root", "GET", "/api/v1/jobs?limit=1000")).body.jobs,
    (jobs) => [1, 2, 3, 4, 7].every((job) => jobs.find((each) => each.job === job).ended_s !== null),
    "the short jobs end",
  );
  await page.context().close();
});

after(async () => {
  await browser?.close();
  await world?.stop();
});

/** A page of whose every request and error notice is taken. */
async function as(user, options) {
  const page = await signedIn(browser, world, user, options);
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "blob:" && protocol !== "data:" && origin !== world.address) {
      faults.push(`asked elsewhere: ${request.url()}`);
    }
  });
  page.on("pageerror", (error) => faults.push(`${user}: ${error.stack}`));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) {
      faults.push(message.text());
    }
  });
  return page;
}

/** What must not have happened, whatever was shown. */
async function done(page) {
  assert.notEqual(await page.title(), "owned");
  assert.deepEqual(faults, []);
  await page.context().close();
}

test("a token is typed once, kept in this session only, and gone after signing out", async () => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  await servedBy(context, world);
  const page = await context.newPage();
  await page.goto(world.address);
  for (const typed of ["glu_\u202ewrong", `glu_${"a".repeat(100_000)}`]) {
    await page.getByLabel(/Your token/).fill(typed);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("This is no token").waitFor();
  }
  await page.getByLabel(/Your token/).fill("glu_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  // The whole line that an administrator hands out will do.
  await page.getByLabel(/Your token/).fill(`gleaner login ${world.address} ${world.tokens.alice}.${"ab".repeat(32)}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Why it waits" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Why it waits" }).waitFor();
  const kept = await page.evaluate(() => [location.href, document.cookie, localStorage.length, document.body.innerText].join(" "));
  assert.ok(!kept.includes(world.tokens.alice));
  const other = await context.newPage();
  await other.goto(world.address);
  await other.getByLabel(/Your token/).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel(/Your token/).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await context.close();
});

test("why it waits stands on top and names what would help", async () => {
  const page = await as("bob");
  await open(page, world, "/");
  assert.equal(await page.locator("main h2").first().innerText(), "Why it waits");
  const first = page.locator(".waits li").first();
  await first.getByText("40 tasks").waitFor();
  await first.getByRole("heading", { name: "What rules machines out" }).waitFor();
  await first.getByRole("heading", { name: "What would help" }).waitFor();
  await done(page);
});

test("where nothing of a user's waits, the page speaks of theirs only", async () => {
  for (const [user, says] of [["bob", "None of yours waits."], ["root", "Nothing waits."]]) {
    const page = await as(user);
    await page.route("**/api/v1/waits", (route) => route.fulfill({ json: { version: 1, groups: [], left_out: 0 } }));
    await open(page, world, "/");
    await page.locator(".waits").getByText(says).waitFor();
    await done(page);
  }
});

test("failures are grouped by reason with an example, and a task tells its life", async () => {
  const page = await as("alice");
  await open(page, world, "/jobs/2");
  const failures = page.locator(".failures li");
  await failures.nth(3).waitFor({ state: "attached" });
  assert.deepEqual([await failures.nth(2).isVisible(), await failures.nth(3).isVisible()], [true, false], "three are seen at once");
  assert.match(await failures.first().innerText(), /3 tasks: its program ended with exit code 1/);
  await page.getByText(/^kept until 20/).waitFor();
  await failures.first().getByRole("link").click();
  await page.getByRole("heading", { name: "Its life" }).waitFor();
  for (const step of ["submitted", "placed by the policy", "its program started", "its program ended with exit code 1"]) {
    await page.locator(".steps").getByText(step).first().waitFor();
  }
  await page.locator("pre[data-stream=stdout]").getByText("begins").waitFor();
  await page.getByRole("button", { name: /^Why on lab-/ }).click();
  await page.getByRole("heading", { name: "Best machines" }).waitFor();
  await done(page);
});

test("why a task was placed is told of the placing that stands there", async () => {
  const page = await as("alice");
  let isAgain = false;
  const step = (run, machine) => ({ at_s: 1_000 * run, phase: "running", cause: "placed by the policy", machine, run });
  await page.route("**/api/v1/jobs/2/tasks/0/history", (route) => {
    const transitions = [step(1, "m1"), ...(isAgain ? [step(2, "m2")] : [])];
    return route.fulfill({ json: { version: 1, transitions, left_out: 0 } });
  });
  const summary = { version: 1, at_s: 0, summary: "it ran", ruled_out: [], remedies: [], ratings: [{ machine: "m1", score: 1 }] };
  await page.route("**/explain?run=1", (route) => route.fulfill({ json: summary }));
  await page.route("**/explain?run=2", (route) => route.abort());
  await page.clock.install();
  await open(page, world, "/jobs/2/tasks/0");
  await page.getByRole("button", { name: "Why on m1?" }).click();
  await page.getByText("When it was placed on m1").waitFor();
  isAgain = true;
  await page.clock.fastForward(30_000);
  await page.getByRole("button", { name: "Why on m2?" }).click();
  await page.getByText("The coordinator cannot be reached.").waitFor();
  assert.equal(await page.getByText("When it was placed on").count(), 0);
  await done(page);
});

test("hostile names, reasons and output are text", async () => {
  const page = await as("root");
  await open(page, world, "/jobs/3");
  await page.getByText("<img src=x onerror=alert(1)><b>bold</b>").first().waitFor();
  await open(page, world, "/machines");
  await page.getByText("<script>alert('owner')</script> by the owner's hand").first().waitFor();
  await open(page, world, "/jobs/3/tasks/1");
  const output = page.locator("pre[data-stream=stdout]");
  await output.getByText("document.title='owned'").first().waitFor();
  const text = await output.innerText();
  assert.ok(!/[\u001b\u202a-\u202e\u2066-\u2069\u200b\u0000\u0001\u0008]/.test(text), JSON.stringify(text));
  assert.ok(text.includes("red") && !text.includes("[31m"), text);
  assert.ok(text.includes("progress 100 %") && !text.includes("progress 1 %"), text);
  assert.ok(text.includes("&lt;entity&gt;"), text);
  assert.equal(await page.locator("main img, main script").count(), 0);
  await done(page);
});

test("a line of ten megabytes is cut, and the page stays alive", async () => {
  const page = await as("alice");
  await open(page, world, "/jobs/4/tasks/1");
  await page.getByRole("button", { name: "Read on" }).click();
  const output = page.locator("pre[data-stream=stdout]");
  await output.getByText("more").first().waitFor();
  await page.getByText(/of 9\.5 MiB|of 10 MiB/).waitFor();
  assert.ok((await output.innerText()).length < 10_000);
  await page.getByRole("link", { name: "job 4" }).click();
  await page.getByRole("heading", { name: /Job 4/ }).waitFor();
  await done(page);
});

/** What stops something that runs is asked for first; whether something does when the button is pressed, only the page knows. */
async function press(page, name) {
  await page.getByRole("button", { name }).click();
  const sure = page.getByRole("dialog").getByRole("button", { name });
  if (await sure.isVisible()) {
    assert.match(await page.getByRole("dialog").innerText(), /begins anew/);
    await sure.click();
  }
}

test("what one may do is done, and what cannot be undone is asked for", async () => {
  const page = await as("alice");
  const tasks = async (job) => (await api(page, world, "alice", "GET", `/api/v1/jobs/${job}`)).body.tasks;
  await open(page, world, "/jobs/8");
  await press(page, "Hold");
  await until(() => tasks(8), (tally) => tally.held > 0 && tally.running === 0, "it is held");
  await page.getByRole("button", { name: "Release" }).click();
  await until(() => tasks(8), (tally) => tally.held === 0, "it is released");
  // Enter twice does nothing.
  await page.getByRole("button", { name: "Cancel" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal((await tasks(8)).cancelled, 0);
  await open(page, world, "/jobs/8/tasks/60");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await until(() => tasks(8), (tally) => tally.cancelled === 1, "it is cancelled");
  await page.getByRole("button", { name: "Rerun" }).click();
  await until(() => tasks(8), (tally) => tally.cancelled === 0, "it runs again");
  await open(page, world, "/jobs/2");
  await page.getByRole("button", { name: "Rerun failed" }).click();
  await page.getByText("rerun: 6 tasks of job 2").waitFor();
  await done(page);
});

test("an administrator pauses, drains and resumes machines", async () => {
  const page = await as("root");
  const state = async () => {
    const { machines } = (await api(page, world, "root", "GET", "/api/v1/machines")).body;
    return machines.find((machine) => machine.machine === "lab-002").state;
  };
  await open(page, world, "/machines/lab-002");
  await press(page, "Pause");
  await page.getByText("lab-002: what runs there stands still").waitFor();
  await page.getByRole("button", { name: "Drain" }).focus();
  await page.keyboard.press("Enter");
  await until(state, (state) => state === "closed", "it is drained");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Drain", "the focus stays");
  await page.getByRole("button", { name: "Resume" }).click();
  await until(state, (state) => state === "open", "it is open again");
  await done(page);
});

test("a user sees their own jobs only, and a reader changes nothing", async () => {
  const bob = await as("bob");
  await open(bob, world, "/");
  await bob.getByRole("table", { name: "Jobs" }).getByText("train a model").waitFor();
  assert.equal(await bob.getByText("render frames").count(), 0);
  await bob.goto(`${world.address}/#/jobs/1`);
  await bob.getByText("no job 1 of yours").first().waitFor();
  await open(bob, world, "/use");
  await bob.getByRole("rowheader", { name: "bob" }).waitFor();
  assert.equal(await bob.getByRole("rowheader", { name: "alice" }).count(), 0);
  const runs = (await api(bob, world, "bob", "GET", "/api/v1/day/runs")).body.runs;
  assert.ok(runs.length > 0 && runs.every((run) => run.job === 7), JSON.stringify(runs[0]));
  assert.equal((await api(bob, world, "bob", "POST", "/api/v1/what-if", { preset: "bertasi/greedy" })).status, 403);
  assert.equal(await bob.getByRole("link", { name: "What if" }).count(), 0);
  await open(bob, world, "/machines/lab-001");
  assert.equal(await bob.getByRole("button", { name: "Drain" }).count(), 0);
  await done(bob);
  const rita = await as("rita");
  await open(rita, world, "/jobs/8");
  for (const name of ["Cancel", "Hold", "Release"]) {
    assert.equal(await rita.getByRole("button", { name }).count(), 0, name);
  }
  await done(rita);
});

test("what happens elsewhere is seen without asking", async () => {
  const page = await as("alice");
  await open(page, world, "/");
  await page.getByText("live", { exact: true }).waitFor();
  const { body } = await api(page, world, "alice", "POST", "/api/v1/jobs", { command: ["exit", "0"], name: "made elsewhere" });
  const row = page.getByRole("table", { name: "Jobs" }).getByRole("row").filter({ hasText: "made elsewhere" });
  await row.waitFor();
  await api(page, world, "alice", "POST", `/api/v1/jobs/${body.job}/cancel`, {});
  await row.getByText("cancelled").first().waitFor();
  await done(page);
});

/** As if another tab were in front of this one, or no longer. */
const hide = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

/** Submits a job, and waits until the page shows it. */
async function seenOn(page, name, meanwhile = async () => undefined) {
  const { body } = await api(page, world, "alice", "POST", "/api/v1/jobs", { command: ["exit", "0"], name });
  await meanwhile();
  await page.getByRole("table", { name: "Jobs" }).getByText(name).waitFor({ timeout: 5_000 });
  await api(page, world, "alice", "POST", `/api/v1/jobs/${body.job}/cancel`, {});
}

test("a page that was hidden is up to date once it is seen, and stays so", async () => {
  const page = await as("alice");
  await page.clock.install();
  await open(page, world, "/");
  await hide(page, true);
  await page.clock.fastForward(35_000);
  await seenOn(page, "made unseen", () => hide(page, false));
  await seenOn(page, "made after it");
  await done(page);
});

test("tabs that nobody sees leave the browser's connections to the one that is seen", async () => {
  const page = await as("alice");
  for (let tab = 1; tab <= 6; tab += 1) {
    const front = await page.context().newPage();
    await front.goto(`${world.address}/#/`);
    await front.getByRole("table", { name: "Jobs" }).getByText("render frames").waitFor({ timeout: 10_000 });
    await front.getByText("live", { exact: true }).waitFor();
    await hide(front, true);
  }
  await done(page);
});

test("a stream that ends, or is silent, is taken up again, and what was missed is asked for", async () => {
  const page = await as("alice");
  await page.addInitScript(() => {
    const ask = window.fetch;
    window.line = new AbortController();
    window.fetch = (path, { signal, ...init }) => {
      const signals = [window.line.signal, signal].filter(Boolean);
      const silence = { start: (stream) => signal.addEventListener("abort", () => stream.error(signal.reason)) };
      const isSilent = window.isSilent && path.endsWith("/events");
      return isSilent ? Promise.resolve(new Response(new ReadableStream(silence))) : ask(path, { ...init, signal: AbortSignal.any(signals) });
    };
  });
  await page.clock.install();
  await open(page, world, "/");
  const isLive = page.getByText("live", { exact: true });
  const isLost = page.getByText("reconnecting…");
  await isLive.waitFor();
  await page.evaluate(() => window.line.abort());
  await isLost.waitFor();
  await seenOn(page, "made meanwhile", async () => {
    await page.clock.fastForward(1_800);
    assert.equal(await page.getByRole("alert").count(), 0);
    await page.evaluate(() => {
      window.line = new AbortController();
      window.isSilent = true;
    });
    await page.clock.fastForward(2_000);
    await isLive.waitFor();
  });
  await page.clock.fastForward(40_000);
  assert.equal(await isLost.count(), 0);
  await page.clock.fastForward(6_000);
  await isLost.waitFor();
  await done(page);
});

test("what happens while an answer is on its way is asked for again", async () => {
  const page = await as("alice");
  let release;
  const released = new Promise((now) => (release = now));
  const ofBefore = async (route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  };
  await page.route("**/api/v1/jobs?*", ofBefore, { times: 1 });
  await page.goto(`${world.address}/#/`);
  await page.getByText(/^Machines: .* Policy: /).waitFor();
  const again = page.waitForRequest("**/api/v1/grid");
  await seenOn(page, "made too late", async () => {
    await again;
    release();
  });
  await done(page);
});

test("where nobody answers who signs in, it is asked again", async () => {
  const page = await as("alice");
  const problem = { version: 1, error: { code: "busy", message: "too many requests" } };
  await page.route("**/api/v1/me", (route) => route.fulfill({ status: 503, json: problem }), { times: 1 });
  await page.clock.install();
  await page.goto(world.address);
  await page.getByText("too many requests").waitFor();
  await page.clock.fastForward(2_000);
  await page.getByRole("heading", { name: "Why it waits" }).waitFor({ timeout: 5_000 });
  await done(page);
});

test("nobody is asked who signs in while nobody sees it", async () => {
  const page = await as("alice");
  let asked = 0;
  await page.route("**/api/v1/me", (route) => {
    asked += 1;
    return asked === 1 ? route.abort() : route.continue();
  });
  await page.clock.install();
  await page.goto(world.address);
  await page.getByText("The coordinator cannot be reached.").waitFor();
  await hide(page, true);
  await page.clock.fastForward(10_000);
  await page.waitForTimeout(200);
  assert.equal(asked, 1);
  await hide(page, false);
  await page.getByRole("heading", { name: "Why it waits" }).waitFor({ timeout: 5_000 });
  await done(page);
});

test("output goes on after an outage, one request at a time, and rests while nobody sees it", async () => {
  const page = await as("alice");
  const [lines, places] = [["line 0\n"], [0]];
  let fails;
  await page.route("**/output?*", async (route) => {
    if (fails) {
      return fails(route);
    }
    places.push(places.at(-1) + 1);
    const { searchParams } = new URL(route.request().url());
    const body = searchParams.get("stream") === "stdout" ? lines.join("").slice(Number(searchParams.get("offset"))) : "";
    await new Promise((later) => setTimeout(later, body ? 0 : 50));
    places.push(places.at(-1) - 1);
    await route.fulfill({ body, headers: { "gleaner-run": "1", "gleaner-over": "false" } });
  });
  await page.clock.install();
  const { tasks } = (await api(page, world, "alice", "GET", "/api/v1/jobs/8/tasks?phase=running&limit=1")).body;
  await open(page, world, `/jobs/8/tasks/${tasks[0].task}`);
  const output = page.locator("pre[data-stream=stdout]");
  await output.getByText("line 0").waitFor();
  const busy = { version: 1, error: { code: "busy", message: "too many requests" } };
  for (const [told, how] of [
    ["The coordinator cannot be reached.", (route) => route.abort()],
    ["too many requests", (route) => route.fulfill({ status: 429, json: busy })],
  ]) {
    fails = how;
    await page.getByText(told).first().waitFor();
    fails = undefined;
    lines.push(`line ${lines.length}\n`);
    await page.clock.fastForward(2_000);
    await output.getByText(lines.at(-1).trim()).waitFor({ timeout: 5_000 });
  }
  assert.equal(await output.innerText(), lines.join(""), "it goes on where it was");
  assert.equal(Math.max(...places), 1);
  await hide(page, true);
  // What was asked for before may still be answered.
  await page.waitForTimeout(200);
  await until(async () => places.at(-1), (open) => open === 0, "nothing is asked for");
  const asked = places.length;
  await page.waitForTimeout(300);
  assert.equal(places.length, asked);
  await done(page);
});

test("what is there of a stream is read at once, however long the other is silent", async () => {
  const page = await as("alice");
  const [whole, piece] = [2 << 20, 1 << 18];
  let asked = 0;
  await page.route("**/output?*", async (route) => {
    const { searchParams } = new URL(route.request().url());
    const offset = Number(searchParams.get("offset"));
    const isErrors = searchParams.get("stream") === "stderr";
    asked += isErrors && offset < whole ? 1 : 0;
    const body = isErrors ? "" : "line of 16 bytes".repeat(Math.min(piece, whole - offset) / 16);
    await new Promise((later) => setTimeout(later, body ? 0 : 1_000));
    await route.fulfill({ body, headers: { "gleaner-run": "1", "gleaner-over": "false" } });
  });
  const { tasks } = (await api(page, world, "alice", "GET", "/api/v1/jobs/8/tasks?phase=running&limit=1")).body;
  await open(page, world, `/jobs/8/tasks/${tasks[0].task}`);
  await page.getByText("the last 512 KiB of 2.0 MiB").waitFor();
  assert.ok(asked <= 2, `the silent stream was asked for ${asked} times meanwhile`);
  await done(page);
});

test("a stream that never rests leaves the other its turn", async () => {
  const page = await as("alice");
  await page.route("**/output?*", async (route) => {
    const isErrors = new URL(route.request().url()).searchParams.get("stream") === "stderr";
    await new Promise((later) => setTimeout(later, 20));
    await route.fulfill({ body: isErrors ? "a warning\n" : "a line\n", headers: { "gleaner-run": "1", "gleaner-over": String(isErrors) } });
  });
  const { tasks } = (await api(page, world, "alice", "GET", "/api/v1/jobs/8/tasks?phase=running&limit=1")).body;
  await open(page, world, `/jobs/8/tasks/${tasks[0].task}`);
  await page.locator("pre[data-stream=stderr]").getByText("a warning").waitFor({ timeout: 5_000 });
  await done(page);
});

test("of copies the output of the one that counted is shown, and one that is being stopped is not asked for again and again", async () => {
  const page = await as("alice");
  await page.route("**/api/v1/jobs/2/tasks/0", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), phase: "done", runs: 2 } });
  });
  let asked = 0;
  await page.route("**/output?*", async (route) => {
    const { searchParams } = new URL(route.request().url());
    const [run, offset] = [searchParams.get("run") ?? "1", Number(searchParams.get("offset"))];
    asked += 1;
    const body = `of run ${run}\n`.slice(offset);
    await new Promise((later) => setTimeout(later, body ? 0 : 1_000 * Number(searchParams.get("wait_s"))));
    await route.fulfill({ body, headers: { "gleaner-run": run, "gleaner-over": String(run === "1") } });
  });
  await open(page, world, "/jobs/2/tasks/0");
  const output = page.locator("pre[data-stream=stdout]");
  await output.getByText("of run 1").waitFor();
  const chosen = page.locator(".pick select").first();
  assert.equal(await chosen.inputValue(), "1");
  await chosen.selectOption("2");
  await output.getByText("of run 2").waitFor();
  const before = asked;
  await page.waitForTimeout(2_000);
  assert.ok(asked <= before + 4, `asked ${asked - before} times in 2 s`);
  await done(page);
});

test("where the first tasks were looked at only, no phase is said to be empty", async () => {
  const page = await as("alice");
  await page.route("**/api/v1/jobs/2/tasks?*phase=waiting", (route) => route.fulfill({ json: { version: 1, tasks: [], next: 100_000 } }));
  await open(page, world, "/jobs/2");
  await page.getByLabel(/^Phase/).selectOption("waiting");
  await page.getByText(/^None among the first 100.000 tasks; gleaner status 2 --phase waiting has more/).waitFor();
  assert.equal(await page.getByText("No tasks in this phase.").count(), 0);
  await done(page);
});

test("who did a step, how far a run is and what was turned away is told", async () => {
  const page = await as("root");
  await page.route("**/api/v1/jobs/2/tasks/0", async (route) => {
    const task = await (await route.fetch()).json();
    const open_runs = [{ machine: "m1", run: 2, stage: "staging_out", why: "no space is left" }];
    await route.fulfill({ json: { ...task, phase: "running", outcome: { exited: { code: 7 } }, open_runs } });
  });
  const step = { at_s: 1_000, phase: "held", cause: "held until it is released", actor: { user: "ada" } };
  await page.route("**/api/v1/jobs/2/tasks/0/history", (route) => route.fulfill({ json: { version: 1, transitions: [step], left_out: 0 } }));
  await page.route("**/api/v1/machines", async (route) => {
    const list = await (await route.fetch()).json();
    list.machines.find((machine) => machine.machine === "lab-001").refused = "another says to be this one";
    await route.fulfill({ json: list });
  });
  await open(page, world, "/jobs/2/tasks/0");
  await page.locator(".steps").getByText("by ada").waitFor();
  await page.getByText("2 on m1 is staging out: no space is left").waitFor();
  assert.equal(await page.getByText("exit code 7").count(), 0, "that was the run before");
  await open(page, world, "/machines/lab-001");
  await page.getByText("another says to be this one").waitFor();
  await done(page);
});

test("of what is refused, however small, it is not said that it is too much", async () => {
  const page = await as("alice");
  const outcomes = ["refused: files: out: a link", "memory: 2 GB"].map((what) => ({ over_limit: { what } }));
  await page.route("**/api/v1/jobs/2/tasks?*", async (route) => {
    const response = await route.fetch();
    const list = await response.json();
    list.tasks.slice(0, 2).forEach((task, index) => Object.assign(task, { outcome: outcomes[index] }));
    await route.fulfill({ response, json: list });
  });
  await open(page, world, "/jobs/2");
  for (const said of ["leaving what is refused: files: out: a link", "more than it may use: memory: 2 GB"]) {
    await page.getByText(said, { exact: true }).waitFor();
  }
  await done(page);
});

test("an address that names nothing says so, and the page goes on", async () => {
  const page = await as("alice");
  for (const [path, says] of [
    ["/machines/%", "There is no machine “%”."],
    ["/jobs/abc", "There is no job “abc”."],
    ["/jobs/1e1", "There is no job “1e1”."],
    ["/jobs/2/tasks/1x", "There is no task “1x”."],
    ["/jobs/%E0%A4", "There is no job “%E0%A4”."],
  ]) {
    await page.goto(`${world.address}/#${path}`);
    await page.getByText(says).waitFor();
  }
  await page.getByRole("link", { name: "Machines" }).click();
  await page.getByRole("heading", { name: "Machines", exact: true }).waitFor();
  await done(page);
});

test("whoever comes back finds their choice and their place again", async () => {
  const page = await as("root");
  await open(page, world, "/");
  const state = page.getByRole("combobox", { name: "State" });
  // The sweep runs as long as the showcase does, whatever the tests before this one ran again.
  await state.selectOption("running");
  await page.getByRole("table", { name: "Jobs" }).waitFor();
  await page.evaluate(() => window.scrollTo(0, 120));
  const place = await until(() => page.evaluate(() => history.state?.place), (kept) => kept > 100, "the place is kept");
  await page.getByRole("table", { name: "Jobs" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: /^Job / }).waitFor();
  assert.equal(await page.evaluate(() => window.scrollY), 0, "a new view begins at its beginning");
  await page.goBack();
  await page.getByRole("table", { name: "Jobs" }).waitFor();
  assert.equal(await state.inputValue(), "running");
  await until(() => page.evaluate(() => window.scrollY), (y) => Math.abs(y - place) < 50, "it is scrolled as it was");
  await done(page);
});

test("keys alone lead through lists and the task stream", async () => {
  const page = await as("root");
  await open(page, world, "/stream");
  const chart = page.getByRole("application", { name: /Task stream/ });
  await chart.focus();
  await page.keyboard.press("ArrowDown");
  const told = page.locator(".gantt .told");
  await told.getByText(/run 1, on lab-/).waitFor();
  const before = await told.innerText();
  await page.keyboard.press("ArrowDown");
  await until(() => told.innerText(), (text) => text !== before, "another run is told of");
  await page.keyboard.press("+");
  await page.keyboard.press("0");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /^Task / }).waitFor();
  await open(page, world, "/");
  await page.reload();
  await page.getByRole("heading", { name: "Why it waits" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await done(page);
});

test("a click opens a run, and what is chosen stays chosen as runs come", async () => {
  const page = await as("root");
  const now = Date.now() / 1_000;
  const run = (task, from_s) => ({ job: 2, task, run: 1, machine: `lab-00${task}`, from_s: now + from_s, to_s: now, state: "done" });
  let runs = [run(2, -100)];
  await page.route("**/api/v1/day/runs?*", (route) => route.fulfill({ json: { version: 1, began_s: now - 86_400, runs, left_out: 0 } }));
  await open(page, world, "/stream");
  const chart = page.getByRole("application", { name: /Task stream/ });
  await chart.focus();
  await page.keyboard.press("ArrowDown");
  const told = page.locator(".gantt .told");
  await told.getByText("2/2, run 1").waitFor();
  runs = [run(1, -200), ...runs];
  await hide(page, false);
  await page.getByRole("application", { name: /Task stream: 2 runs/ }).waitFor();
  assert.match(await told.innerText(), /^2\/2, run 1/);
  const { width } = await chart.boundingBox();
  await chart.click({ position: { x: width - 30, y: 33 } });
  await page.getByRole("heading", { name: "Task 2/1" }).waitFor();
  await done(page);
});

test("older jobs begin at the newest of them", async () => {
  const page = await as("root");
  const { jobs } = (await api(page, world, "root", "GET", "/api/v1/jobs?limit=1")).body;
  await page.route("**/api/v1/jobs?*", (route) => {
    const before = Number(new URL(route.request().url()).searchParams.get("before") ?? 3_001);
    const listed = Array.from({ length: 1_000 }, (_, index) => ({ ...jobs[0], job: before - 1 - index }));
    return route.fulfill({ json: { version: 1, jobs: listed } });
  });
  await open(page, world, "/");
  const rows = page.getByRole("rowgroup", { name: "Jobs: rows" });
  await rows.evaluate((box) => (box.scrollTop = box.scrollHeight));
  await rows.getByRole("link", { name: "2001", exact: true }).waitFor();
  await until(() => page.evaluate(() => JSON.stringify(history.state)), (kept) => /rows of Jobs/.test(kept), "the place is kept");
  await page.getByRole("button", { name: "Older" }).click();
  await rows.getByRole("link", { name: "2000", exact: true }).waitFor();
  assert.equal(await rows.evaluate((box) => box.scrollTop), 0);
  await done(page);
});

test("what was typed and answered is there again on Back", async () => {
  const page = await as("root");
  await page.goto(`${world.address}/#/what-if`);
  await page.getByRole("combobox").selectOption("in force");
  await page.getByLabel(/With these keys/).fill("# as it is");
  await page.getByRole("button", { name: "Run it again" }).click();
  await page.getByRole("heading", { name: "In numbers" }).waitFor();
  await page.getByRole("link", { name: "Machines" }).click();
  await page.getByLabel("Name").fill("lab-02");
  const kept = () => page.evaluate(() => history.state?.name);
  await until(kept, (name) => name === "lab-02", "it is kept");
  await page.getByRole("link", { name: "lab-020" }).click();
  await page.getByRole("heading", { name: /lab-020/ }).waitFor();
  await page.goBack();
  await page.getByText(/^\d of 24 machines/).waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "lab-02");
  await page.goBack();
  await page.getByRole("heading", { name: "In numbers" }).waitFor();
  assert.equal(await page.getByLabel(/With these keys/).inputValue(), "# as it is");
  assert.equal(await page.getByRole("combobox").inputValue(), "in force");
  await done(page);
});

test("a choice is kept even if one leaves at once", async () => {
  const page = await as("root");
  await open(page, world, "/machines");
  await page.locator("main select option[value=open]").waitFor({ state: "attached" });
  await page.evaluate(() => {
    const state = document.querySelector("main select");
    state.value = "open";
    state.dispatchEvent(new Event("change", { bubbles: true }));
    location.hash = "#/use";
  });
  await page.getByRole("heading", { name: "Use", exact: true }).waitFor();
  await page.goBack();
  const state = page.getByRole("combobox", { name: "State" });
  await state.locator("option[value=open]").waitFor({ state: "attached" });
  assert.equal(await state.inputValue(), "open");
  await done(page);
});

test("a life of many steps fits, and tells how many are not listed", async () => {
  const page = await as("alice");
  const now = Date.now() / 1_000;
  const phase = (step) => (step === 999 ? "failed" : step % 2 ? "running" : "suspended");
  const step = (_, index) => ({ at_s: now - 1_000 + index, phase: phase(index), cause: `cause ${index}` });
  const transitions = Array.from({ length: 1_000 }, step);
  await page.route("**/history", (route) => route.fulfill({ json: { version: 1, transitions, left_out: 5 } }));
  await open(page, world, "/jobs/2/tasks/1");
  await page.getByText("805 earlier steps not told here.").waitFor();
  const ends = () => page.evaluate(() => [".life", ".life > :last-child"].map((each) => document.querySelector(each)?.getBoundingClientRect().right));
  await until(ends, ([bar, last]) => last !== undefined && Math.abs(bar - last) < 1, "the last step is seen");
  assert.equal(await page.locator(".life > :last-child").getAttribute("class"), "fill-failed");
  assert.match(await page.locator(".life > :first-child").getAttribute("title"), /^\d+ steps, longest (running|suspended), .* in all$/);
  await done(page);
});

test("where nothing is known, no number stands", async () => {
  const page = await as("root");
  const at_s = Date.now() / 1_000;
  const sample = { waiting: 1, running: 0, suspended: 0, held: 0, started: 0, wait_mean_s: 0, wait_max_s: 0 };
  const queue = [{ ...sample, at_s: at_s - 60 }, { ...sample, at_s }];
  await page.route("**/api/v1/day", (route) => route.fulfill({ json: { version: 1, began_s: at_s - 60, step_s: 60, queue } }));
  await open(page, world, "/");
  await page.getByRole("img", { name: /^How long tasks waited that started; .*\d\d:\d\d mean wait –, longest –$/ }).waitFor();
  await page.getByText("longest –").waitFor();
  await done(page);
});

test("machines have their day however many there are", async () => {
  const page = await as("root");
  await page.route(/day\/machines\?limit=1000$/, async (route) => {
    const answer = await (await route.fetch()).json();
    return route.fulfill({ json: { ...answer, machines: answer.machines.slice(0, 5), next: 5 } });
  });
  await open(page, world, "/machines/lab-020");
  await page.getByRole("img", { name: "What of lab-020 was used" }).waitFor({ timeout: 5_000 });
  await done(page);
});

test("a job says that not all of its runs are known", async () => {
  const page = await as("root");
  const list = { version: 1, began_s: Date.now() / 1_000 - 86_400, runs: [], left_out: 7 };
  await page.route("**/api/v1/day/runs?*", (route) => route.fulfill({ json: list }));
  await open(page, world, "/jobs/2");
  await page.getByText("Only the latest 20\u202f000 runs of the grid are known.").waitFor();
  await done(page);
});

test("the last day under another policy stands beside what was", async () => {
  const page = await as("root");
  await open(page, world, "/what-if");
  assert.equal(await page.getByRole("application").count(), 2);
  await page.getByRole("rowheader", { name: "Makespan" }).waitFor();
  await done(page);
});

test("keys lead from one copy of a task to another that began at the same moment", async () => {
  const page = await as("root");
  const machines = ["lab-001", "lab-002", "lab-003"];
  const run = (machine) => ({ job: 2, task: 1, machine, from_s: 1_000, to_s: 1_100 });
  const numbers = { makespan_s: 100, wait_mean_s: 0, wait_max_s: 0, moves: 0, machine_s: 300, unfinished: 0 };
  const schedules = ["as it was", "simulated", "as asked"].map((name) => ({ ...numbers, name, runs: [0, 1, 2].map(run) }));
  await page.route("**/api/v1/what-if", (route) => route.fulfill({ json: { version: 1, since_s: 900, left_out: 0, machines, schedules } }));
  await open(page, world, "/what-if");
  const chart = page.getByRole("application", { name: /^as asked/ });
  await chart.focus();
  for (const machine of machines) {
    await page.keyboard.press("ArrowDown");
    await page.locator(".gantt .told").getByText(`2/1 on ${machine}`).waitFor({ timeout: 5_000 });
  }
  await done(page);
});

test("a saved job has some of its failed tasks, however late they are", async () => {
  const page = await as("alice");
  await page.route("**/api/v1/jobs/2/tasks?limit=10000", (route) => route.fulfill({ json: { version: 1, tasks: [], next: 10_000 } }));
  await open(page, world, "/jobs/2");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save", exact: true }).click()]);
  const path = join(tmpdir(), `gleaner-saved-late-${process.pid}.html`);
  await download.saveAs(path);
  assert.match(readFileSync(path, "utf8"), /"\/api\/v1\/jobs\/2\/tasks\/\d+\/history"/);
  writeFileSync(path, "");
  await done(page);
});

test("a job and a day are saved as files that open without a server", async () => {
  // Where it is another day than in Greenwich.
  const [timezoneId, hours] = new Date().getUTCHours() < 12 ? ["Etc/GMT+12", -12] : ["Etc/GMT-12", 12];
  const page = await as("alice", { timezoneId });
  for (const [route, button, expected] of [
    ["/jobs/3", "Save", "<img src=x onerror=alert(1)><b>bold</b>"],
    ["/stream", "Save the day", "What ran where"],
  ]) {
    await open(page, world, route);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
    if (route === "/stream") {
      const day = new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10);
      assert.equal(download.suggestedFilename(), `gleaner-day-${day}.html`);
    }
    const path = join(tmpdir(), `gleaner-saved-${process.pid}.html`);
    await download.saveAs(path);
    assert.ok(!readFileSync(path, "utf8").includes(world.tokens.alice), "the token is not in the file");
    const context = await browser.newContext({ offline: true });
    const file = await context.newPage();
    const asked = [];
    const failed = [];
    file.on("request", (request) => asked.push(request.url()));
    file.on("console", (message) => failed.push(message.text()));
    file.on("pageerror", (error) => failed.push(String(error)));
    // Whoever opens it a week later is told how things stood.
    await file.clock.setFixedTime(Date.now() + 7 * 86_400_000);
    await file.goto(`file://${path}`);
    await file.getByText(expected).first().waitFor();
    await file.getByText(/^saved /).waitFor();
    if (route.startsWith("/jobs/")) {
      await file.getByLabel(/^Phase/).selectOption("failed");
      await file.getByText("No tasks in this phase.").waitFor();
      assert.equal(await file.locator('a[href^="#/machines/"]').count(), 0, "no machine was saved");
    } else {
      await file.evaluate(() => (location.hash = "#/machines/lab-001"));
      await file.getByText(/ ago$/).waitFor();
      assert.doesNotMatch(await file.locator("main").innerText(), /\d d ago/);
    }
    assert.deepEqual([asked, failed], [[`file://${path}`], []]);
    assert.equal(await file.getByRole("button", { name: "Cancel" }).count(), 0);
    await context.close();
    writeFileSync(path, "");
  }
  await done(page);
});

for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`each view is accessible and fits, ${scheme} at ${width}`, async () => {
      const page = await as("root", { colorScheme: scheme, viewport: { width, height: 900 } });
      await withDay(page);
      for (const [name, route] of VIEWS) {
        await open(page, world, route);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name} is ${wide} wide`);
        const cut = () => {
          const isCut = (tick) => {
            const [own, chart] = [tick, tick.ownerSVGElement].map((element) => element.getBoundingClientRect());
            return own.left < chart.left - 0.5 || own.right > chart.right + 0.5;
          };
          return [...document.querySelectorAll("svg .tick")].filter(isCut).map((tick) => tick.textContent);
        };
        // A chart is drawn anew once its width is known.
        await until(() => page.evaluate(cut), (marks) => marks.length === 0, `${name}: no mark of a chart is cut off at its edge`);
        // The page's own policy lets no other script in; the tool comes in beside it.
        const { violations } = await page.evaluate(`${AXE}; axe.run(document, { resultTypes: ["violations"] })`);
        const told = violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
        assert.deepEqual(told, [], `${name}, ${scheme}, ${width}`);
      }
      await done(page);
    });
  }
}
