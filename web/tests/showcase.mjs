// A real coordinator with fake agents, and a browser that looks at it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BINARY =
  process.env.SHOWCASE ?? fileURLToPath(new URL("../../target/debug/examples/showcase", import.meta.url));

/** Starts a coordinator with so many machines, and tasks that take so long. */
export async function showcase(machines, tasks, seconds = 100_000) {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-page-"));
  const child = spawn(BINARY, [folder, machines, tasks, seconds].map(String), { stdio: ["pipe", "pipe", "inherit"] });
  const address = await new Promise((found, failed) => {
    createInterface({ input: child.stdout }).once("line", found);
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`the showcase ended with ${code}`)));
  });
  const tokens = JSON.parse(readFileSync(join(folder, "tokens.json"), "utf8"));
  const stop = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    child.stdin.end();
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { address, tokens, stop, pid: child.pid };
}

export function browser() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  // The gate runs as root, which Chromium's own sandbox does not like; what it looks at is ours.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A page of someone who is signed in already, in a browser session of its own. */
export async function signedIn(browser, world, user, options = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  await context.addInitScript((token) => {
    if (location.protocol === "https:" && !sessionStorage.getItem("gone")) {
      sessionStorage.setItem("token", token);
    }
  }, world.tokens[user]);
  await servedBy(context, world);
  return context.newPage();
}

/** The page as it was built last, where that is not in the coordinator yet: `PAGE=dist/index.html`. */
export async function servedBy(context, world) {
  if (!process.env.PAGE) {
    return;
  }
  const body = readFileSync(process.env.PAGE, "utf8");
  const hash = (tag) => {
    const begin = body.indexOf(">", body.indexOf(`<${tag}`)) + 1;
    return createHash("sha256").update(body.slice(begin, body.indexOf(`</${tag}>`, begin))).digest("base64");
  };
  const policy = `default-src 'none'; script-src 'sha256-${hash("script")}'; style-src 'sha256-${hash("style")}'; connect-src 'self'`;
  const headers = { "content-type": "text/html", "content-security-policy": policy };
  await context.route(`${world.address}/`, (route) => route.fulfill({ body, headers }));
}

/** Asks the coordinator as somebody, without a page. */
export async function api(page, world, user, method, path, data) {
  const headers = { Authorization: `Bearer ${world.tokens[user]}` };
  const response = await page.request.fetch(world.address + path, { method, headers, data });
  return { status: response.status(), body: await response.json() };
}

/** A day in place of the minutes that the showcase has run. */
export async function withDay(page) {
  const now = Math.floor(Date.now() / 1000);
  await page.route("**/api/v1/day", (route) => {
    const queue = Array.from({ length: 1440 }, (_, index) => {
      const swing = Math.sin(index / 180) + 1;
      return {
        at_s: now - (1439 - index) * 60,
        waiting: Math.round(60 * swing + (index % 37)),
        running: Math.round(40 + 20 * swing),
        suspended: index % 300 < 60 ? 6 : 0,
        held: 0,
        started: index % 3,
        wait_mean_s: 40 * swing + (index % 11),
        wait_max_s: 90 * swing + (index % 53),
      };
    });
    return route.fulfill({ json: { version: 1, began_s: now - 86400, step_s: 60, queue } });
  });
  await page.route("**/api/v1/day/machines?*", async (route) => {
    const answer = await (await route.fetch()).json();
    answer.machines.forEach((machine, number) => {
      const shares = (above) =>
        Array.from({ length: 144 }, (_, index) => {
          const isDay = index > 48 && index < 108;
          const owner = isDay ? Math.round(50 + 45 * Math.sin(index / 9 + number)) : index % 29 === 0 ? 20 : 0;
          return number % 12 === 5 && index > 120 ? null : above ? owner : Math.max(0, 100 - owner);
        });
      Object.assign(machine, { from_s: now - 86400, owner: shares(true), grid: shares(false), moved_away: Array(144).fill(0).map((_, index) => (index % 24 === 0 ? 1 : 0)) });
    });
    return route.fulfill({ json: answer });
  });
}

/** All views, as who may see all of them. */
export const VIEWS = [
  ["grid", "/"],
  ["job", "/jobs/2"],
  ["running-job", "/jobs/8"],
  ["task", "/jobs/2/tasks/0"],
  ["hostile-task", "/jobs/3/tasks/1"],
  ["waiting-task", "/jobs/5/tasks/1"],
  ["machines", "/machines"],
  ["machine", "/machines/lab-001"],
  ["stream", "/stream"],
  ["use", "/use"],
  ["what-if", "/what-if"],
];

/** Opens a view and waits until nothing in it is still asked for. */
export async function open(page, world, route) {
  await page.goto(`${world.address}/#${route}`);
  await page.locator("main h1").first().waitFor({ state: "attached" });
  await page.waitForFunction(() => ![...document.querySelectorAll("main p.muted")].some((it) => it.textContent === "…"));
  if (route === "/what-if") {
    await page.getByRole("button", { name: "Run it again" }).click();
    await page.getByRole("heading", { name: "In numbers" }).waitFor();
  }
}

/** Waits until a condition over an answer of the coordinator holds. */
export async function until(ask, holds, what) {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) {
      return answer;
    }
    if (Date.now() > end) {
      throw new Error(`${what}: did not come within 60 s; it was ${JSON.stringify(answer)} last`);
    }
    await new Promise((later) => setTimeout(later, 100));
  }
}
