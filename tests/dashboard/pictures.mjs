// The pictures of the README: `scripts/pictures` runs this.

import { execFileSync } from "node:child_process";
import { clean, judged, opened, picture, promise, route, sendPages } from "./browser.mjs";
import { pages, truth } from "./corpus.mjs";

const VIEW = { width: 1160, height: 760 };
const { REPORT, SEAMRIPPER } = process.env;

await promise(async (browser) => {
  const all = pages();
  const page = await opened(browser, { viewport: VIEW });
  await page.goTo("");
  await page.getByText("live", { exact: true }).waitFor();
  // In portions, so that there is a line to be seen.
  for (let n = 0; n < all.length; n += 12) {
    await sendPages(all.slice(n, n + 12));
    await page.waitForTimeout(400 + ((n * 37) % 1100));
  }
  execFileSync(SEAMRIPPER, ["ingest", "--quiet", "mails.mbox", "mails.jsonl"]);
  await judged(all.length + 50);
  await page.waitForTimeout(4000);
  await picture(page, "overview");

  // Of those in a script that every machine has letters for.
  const of = (kind, part) => truth().find((row) => row.kind === kind && row.id.includes(part)).id;
  const at = async (target, name, ready) => {
    await page.goTo("#/nowhere");
    await page.goTo(target);
    await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".loading"));
    await ready();
    await page.waitForTimeout(300);
    await picture(page, name);
  };
  await at(route("verdict", of("quilt", "creditfixers")), "quilt", async () => {
    await page.locator(".patch").nth(1).hover();
    await page.evaluate(() =>
      scrollBy(0, document.querySelector(".quilt-view").closest("section").getBoundingClientRect().top - 66),
    );
  });
  await at(route("verdict", of("copy", "storiesforfree")), "mirror", () =>
    page.evaluate(() => scrollBy(0, document.querySelector(".sides").closest("section").getBoundingClientRect().top - 66)),
  );
  await clean(page);

  const report = await opened(browser, { viewport: VIEW, base: "file://" });
  await report.goto(`file://${REPORT}`);
  await picture(report, "report");
});
