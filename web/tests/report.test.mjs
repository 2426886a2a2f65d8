// A report with schedules in it, as a file, in a real Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { browser as launch } from "./showcase.mjs";

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const GALLERY = process.env.GALLERY ?? fileURLToPath(new URL("../../target/debug/examples/gallery", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gleaner-report-"));
let browser;

before(async () => {
  browser = await launch();
  writeFileSync(join(folder, "gallery.html"), execFileSync(GALLERY, { maxBuffer: 64 << 20 }));
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

for (const [scheme, width] of [
  ["light", 1280],
  ["dark", 390],
]) {
  test(`schedules of 12 and 1,000 machines can be looked into, ${scheme} at ${width}`, async () => {
    const context = await browser.newContext({ offline: true, colorScheme: scheme, viewport: { width, height: 900 } });
    const page = await context.newPage();
    const asked = [];
    const failed = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => failed.push(message.text()));
    page.on("pageerror", (error) => failed.push(String(error)));
    const address = `file://${join(folder, "gallery.html")}`;
    await page.goto(address);
    const chart = page.getByRole("application", { name: /^a thousand machines: 10\s000 runs on 1\s000 machines/ });
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("status").filter({ hasText: "<b>task</b>" }).waitFor();
    await page.keyboard.press("+");
    assert.equal(await page.getByRole("application").count(), 4);
    const { violations } = await page.evaluate(`${AXE}; axe.run(document, { resultTypes: ["violations"] })`);
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.deepEqual([asked, failed], [[address], []]);
    if (process.env.SCREENSHOTS) {
      mkdirSync("screenshots", { recursive: true });
      await page.screenshot({ path: `screenshots/report-${width}-${scheme}.png`, fullPage: true });
    }
    await context.close();
  });
}
