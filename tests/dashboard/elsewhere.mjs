// Where other machines can reach the run, the dashboard itself is given to everybody, and nothing else: it asks for the token first.

import assert from "node:assert/strict";
import { TOKEN_OF_RUN, clean, opened, picture, promise, sendPages, step, violations } from "./browser.mjs";
import { pages } from "./corpus.mjs";

await promise(async (browser) => {
  step("the token is asked for");
  const page = await opened(browser);
  await page.goTo("");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.equal(await page.getByRole("dialog").count(), 1, "it is asked for once, whoever needs it");
  assert.equal(await page.locator(".feed li").count(), 0);
  await dialog.getByLabel("Token").fill(TOKEN_OF_RUN);
  await dialog.getByRole("button", { name: "Go on" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  step("verdicts arrive");
  await sendPages(pages().slice(0, 5));
  await page.locator(".feed li").nth(4).waitFor();
  await page.reload();
  await page.locator(".feed li").nth(4).waitFor();
  step("another tab");
  // Another tab knows nothing of it.
  const other = await opened(browser, { bypassCSP: true });
  await other.goTo("#/verdicts");
  await other.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(other), []);
  await picture(other, "token-desktop-light");
  await clean(page);
});
