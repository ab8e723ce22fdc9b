// Rows of lists show what tells documents apart: the ends of long ids, all classes, and that there are more labels than fit.

import assert from "node:assert/strict";
import { DESKTOP, PHONE, clean, opened, picture, promise, step } from "./browser.mjs";

const archive = `/srv/archive/${"crawl-of-the-whole-web-".repeat(8)}2026.tar.zst#`;
const label = (word) => ({ label: word, via: "mirror", of: "somebody" });
const verdict = (n) => ({
  schema: 1,
  id: `${archive}${100_000 + n}.html`,
  kind: "page",
  source: { topic: "pages", partition: 0, offset: n, time: "2026-01-31T12:00:00Z" },
  revision: 0,
  outcome: "judged",
  classes: ["mirror", "quilt", "template"],
  labels: ["spam", "a-rather-long-label-of-somebody", "scam", "junk"].map(label),
  mirror: { resemblance: 0.97, size: 1234 },
  quilt: { patch_fraction: 0.63, sources: [{}, {}, {}] },
  template: { kind: "link_farm", size: 12_345, domains: 678 },
});

/** Whether the whole of an element can be seen: nothing around it cuts it off. */
const isWhole = (element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  for (let around = element.parentElement; around && around.tagName !== "MAIN"; around = around.parentElement) {
    if (getComputedStyle(around).overflowX === "visible") continue;
    const edge = around.getBoundingClientRect();
    if (left < edge.left - 1 || right > edge.right + 1 || top < edge.top - 1 || bottom > edge.bottom + 1) return false;
  }
  return right > left && left >= 0 && right <= innerWidth;
};

await promise(async (browser) => {
  for (const [size, viewport] of Object.entries({ desktop: DESKTOP, tablet: { width: 820, height: 1180 }, phone: PHONE })) {
    const page = await opened(browser, { viewport });
    await page.route("**/v1/verdicts?*", (route) => route.fulfill({ json: { verdicts: [0, 1, 2, 3].map(verdict) } }));
    for (const [target, rows] of [
      ["#/verdicts", ".verdicts .entry"],
      ["#/", ".feed li"],
    ]) {
      step(`${target} on a ${size}`);
      await page.goTo("#/nowhere");
      await page.goTo(target);
      await page.locator(rows).nth(3).waitFor();
      await picture(page, `rows-${target === "#/" ? "feed" : "list"}-${size}-light`);
      for (let n = 0; n < 4; n += 1) {
        const row = page.locator(rows).nth(n);
        const end = row.locator("a .end");
        assert.ok(verdict(n).id.endsWith(await end.textContent()), "the end of the id");
        assert.equal(await row.locator("a").textContent(), verdict(n).id);
        assert.ok(await end.evaluate(isWhole), "it can be seen");
        const badges = row.locator(".badge:not(.label)");
        assert.deepEqual(await badges.allTextContents(), verdict(n).classes);
        for (const badge of await badges.all()) {
          assert.ok(await badge.evaluate(isWhole), `${await badge.textContent()} can be seen`);
          // Nor does anything lie on it.
          const isTop = await badge.evaluate((element) => {
            element.scrollIntoView({ block: "center" });
            const { right, top, bottom } = element.getBoundingClientRect();
            return element.contains(document.elementFromPoint(right - 6, (top + bottom) / 2));
          });
          assert.ok(isTop, `${await badge.textContent()} lies on top`);
        }
        if (size === "desktop" && target === "#/verdicts") {
          assert.deepEqual(await row.locator(".badge.label").allTextContents(), ["spam", "+3"]);
          assert.equal(await row.locator(".badge.more").getAttribute("title"), "a-rather-long-label-of-somebody, scam, junk");
        }
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
    }
    await clean(page);
    await page.context().close();
  }
});
