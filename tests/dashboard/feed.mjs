// The feed on the first page: each document once, the newest first, however late the list of the last ones comes; and nothing moves
// under somebody who is about to choose.

import assert from "node:assert/strict";
import { api, clean, judged, opened, promise, sendPages, step } from "./browser.mjs";

const letters = (n) => [...String(n)].map((digit) => "acegikmoqs"[digit]).join("");
const html = (n) => `<p>${Array.from({ length: 60 }, (_, k) => `word${letters(n)}${letters(100 + k)}`).join(" ")}</p>`;
const made = (from, to) => Array.from({ length: to - from }, (_, k) => ({ id: `page-${from + k}`, html: html(from + k) }));

/** What the feed is to show when so many were judged. */
const newest = (n) => Array.from({ length: 14 }, (_, k) => `page-${n - 1 - k}`);

await promise(async (browser) => {
  await sendPages(made(0, 20));
  await judged(20);
  const page = await opened(browser);
  const lines = () => page.locator(".feed li a").allTextContents();
  const shows = async (ids) => {
    await page.locator(".feed li").first().getByText(ids[0], { exact: true }).waitFor();
    assert.deepEqual(await lines(), ids);
  };

  // Whatever was judged between the question and its answer, or behind it, comes by the stream as well.
  for (const [n, isOld] of [
    [20, true],
    [22, false],
  ]) {
    step(`the list comes behind the stream${isOld ? ", and was made before it" : ""}`);
    let asked = null;
    const held = new Promise((resolve) => (asked = resolve));
    await page.route(
      "**/v1/verdicts?*",
      async (route) => {
        const old = isOld && (await route.fetch());
        asked(() => (old ? route.fulfill({ response: old }) : route.continue()));
      },
      { times: 1 },
    );
    await page.goTo("#/nowhere");
    await page.goTo("#/");
    await page.getByText("live", { exact: true }).waitFor();
    const answer = await held;
    await sendPages(made(n, n + 2));
    await judged(n + 2);
    // Time enough for the stream to bring them, and for the feed to show them, if it did so already.
    await page.waitForTimeout(1500);
    await answer();
    await shows(newest(n + 2));
  }

  step("nothing moves while it is pointed at");
  await page.locator(".feed li a").nth(3).hover();
  await sendPages(made(24, 30));
  await page.getByText("waits while you choose; 6 verdicts since").waitFor();
  assert.deepEqual(await lines(), newest(24));
  await page.mouse.move(0, 0);
  await shows(newest(30));
  await page.getByText("live", { exact: true }).waitFor();

  step("a document that comes again is shown once");
  await sendPages([{ id: "page-25", html: html(99) }]);
  await shows(["page-25", ...newest(30).filter((id) => id !== "page-25")]);
  assert.equal((await api("GET", "/v1/documents/page-25")).verdict.recrawl, "changed");

  step("a pause");
  await page.getByRole("button", { name: "Pause" }).click();
  await sendPages(made(30, 31));
  await page.getByText("paused; 1 verdict since").waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.locator(".feed li").first().getByText("page-30", { exact: true }).waitFor();
  await clean(page);
});
