// Fifty thousand verdicts in one list: all of them can be reached, few of them are in the page, and scrolling never holds it up.

import assert from "node:assert/strict";
import { clean, judged, opened, promise, sendPages, step, until } from "./browser.mjs";

const N = 50_000;
const AT_ONCE = 5_000;
const TASK_MAX_MS = 200;
const ROUNDS = 8;

/** Loads the whole list and jumps about in it; the longest task of the page's thread, in ms. */
async function scrolled(browser) {
  step("the list is loaded and scrolled");
  const page = await opened(browser);
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => window.tasks.push(duration))).observe({
      type: "longtask",
      buffered: true,
    });
  });
  await page.goTo("#/verdicts");
  const loaded = () => page.locator(".list").getAttribute("data-loaded").then(Number);
  await until("the whole list", async () => {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    return (await loaded()) >= N;
  });
  await page.getByText(`${N.toLocaleString("en")} verdicts`, { exact: true }).waitFor();
  const rows = page.locator(".verdicts .entry");
  // From end to end, by screens and by leaps.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height >= N * 44, `${height} pixels are too few for ${N} rows`);
  for (let n = 0; n <= 150; n += 1) {
    const place = n < 100 ? (n * 860) / 2 : (((n * 7919) % 101) / 100) * height;
    await page.evaluate(
      (top) => new Promise((done) => (scrollTo(0, top), requestAnimationFrame(() => requestAnimationFrame(done)))),
      place,
    );
    const n_rows = await rows.count();
    assert.ok(n_rows > 5 && n_rows < 120, `${n_rows} rows are in the page`);
  }
  // The newest is the first, the oldest the last, and none is missing in between.
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.locator(`[aria-rowindex="${N + 1}"]`, { hasText: "document-0-" }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await page.locator('[aria-rowindex="2"]', { hasText: `document-${N - 1}-` }).waitFor();
  const seen = await rows.evaluateAll((entries) =>
    entries.map((entry) => [Number(entry.getAttribute("aria-rowindex")), entry.querySelector("a").textContent]),
  );
  seen.forEach(([index, text]) => assert.equal(text, `document-${N + 1 - index}-`));
  const tasks = await page.evaluate(() => window.tasks);
  await clean(page);
  await page.context().close();
  return Math.max(0, ...tasks);
}

await promise(async (browser) => {
  step("the pages are judged");
  const begun = Date.now();
  for (let n = 0; n < N; n += AT_ONCE) {
    await sendPages(Array.from({ length: AT_ONCE }, (_, k) => ({ id: `document-${n + k}-`, html: "x" })));
  }
  await judged(N);
  console.log(`${N} verdicts after ${Date.now() - begun} ms`);
  // A task is as long as the clock says, and others may have had the processor meanwhile: the best of some rounds counts.
  const longest = [];
  while (longest.length < ROUNDS && !(Math.min(...longest) <= TASK_MAX_MS)) longest.push(Math.round(await scrolled(browser)));
  console.log(`longest tasks of ${longest.length} rounds: ${longest.join(", ")} ms`);
  assert.ok(Math.min(...longest) <= TASK_MAX_MS, `a task took ${longest} ms`);
});
