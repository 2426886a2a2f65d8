// A picture of each view, wide and narrow, light and dark: `node tests/screenshots.mjs [VIEW]`, then look at them.
import { mkdirSync } from "node:fs";
import { browser as launch, open, showcase, signedIn, VIEWS, withDay } from "./showcase.mjs";

mkdirSync("screenshots", { recursive: true });
const [world, browser] = await Promise.all([showcase(24, 60), launch()]);
await new Promise((later) => setTimeout(later, 4_000));
for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const page = await signedIn(browser, world, "root", { colorScheme: scheme, viewport: { width, height: 900 } });
    await withDay(page);
    for (const [name, route] of VIEWS.filter(([name]) => !process.argv[2] || name === process.argv[2])) {
      await open(page, world, route);
      await page.waitForTimeout(300);
      await page.screenshot({ path: `screenshots/${name}-${width}-${scheme}.png`, fullPage: true });
    }
    await page.context().close();
  }
}
await browser.close();
await world.stop();
