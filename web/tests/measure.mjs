// How the page does with 500 machines and 10,000 tasks: `node tests/measure.mjs`. Figures are in docs/page.md.
import { readFileSync } from "node:fs";
import { browser as launch, showcase, signedIn } from "./showcase.mjs";

// Some 1,400 tasks run at a time: some 100 end in each second, and as many start.
const [machines, tasks, seconds] = [500, 10_000, 14];
const [world, browser] = await Promise.all([showcase(machines, tasks, seconds), launch()]);
await new Promise((later) => setTimeout(later, 5_000));
const page = await signedIn(browser, world, "root");
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${world.pid}/status`, "utf8"))[1]) / 1024;
for (const [name, route, seen] of [
  ["grid", "/", ".rows .row:nth-child(3)"],
  ["job of 10,000 tasks", "/jobs/8", ".rows .row:nth-child(3)"],
  ["500 machines", "/machines", ".rows .strip"],
  ["task stream", "/stream", ".gantt canvas"],
]) {
  await page.goto("about:blank");
  const began = performance.now();
  await page.goto(`${world.address}/#${route}`);
  await page.locator(seen).first().waitFor();
  const first = performance.now() - began;
  const frames = await page.evaluate(
    () =>
      new Promise((done) => {
        const times = [];
        const step = (at) => {
          times.push(at);
          if (at - times[0] < 15_000) {
            document.querySelector(".rows-body")?.scrollBy(0, 7);
            requestAnimationFrame(step);
          } else {
            done(times.slice(1).map((time, index) => time - times[index]));
          }
        };
        requestAnimationFrame(step);
      }),
  );
  frames.sort((one, other) => one - other);
  const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(0);
  const { metrics } = await session.send("Performance.getMetrics");
  const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value / (1 << 20);
  console.log(
    `${name}: first view ${first.toFixed(0)} ms; ${(frames.length / 15).toFixed(0)} frames/s over 15 s of updates, ` +
      `a frame ${at(0.5)} ms, 99 % within ${at(0.99)} ms, longest ${at(1)} ms; page's heap ${heap.toFixed(0)} MB`,
  );
}
console.log(`coordinator with its ${machines} agents: ${resident().toFixed(0)} MB`);
await browser.close();
await world.stop();
