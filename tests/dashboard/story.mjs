// Somebody watches verdicts arrive, opens a quilt, sees whose patches they are, labels it, sees the next copy carry the label, and takes
// it back.

import assert from "node:assert/strict";
import { TOKEN_OF_RUN, api, clean, judged, opened, promise, route, sendPages, step, until } from "./browser.mjs";
import { idOf, pages, truth } from "./corpus.mjs";

await promise(async (browser) => {
  const row = truth().find(({ kind, note }) => kind === "quilt" && !note.includes("before"));
  const all = pages();
  const quilt = all.find((page) => idOf(page) === row.id);
  const others = all.filter((page) => idOf(page) !== row.id);
  step("the other pages are judged");
  await sendPages(others);
  await judged(others.length);

  step("a verdict arrives");
  const page = await opened(browser);
  await page.goTo("");
  await page.getByText("live", { exact: true }).waitFor();
  await sendPages([quilt]);
  const arrived = page.locator(".feed li", { has: page.locator(`a[href="${route("verdict", row.id)}"]`) });
  await arrived.locator(".badge.quilt").waitFor();
  step("it is opened");
  await arrived.locator("a").click();

  // The patches are there, and name the sources that the corpus was made from.
  const patch = page.locator(".patch").first();
  await patch.waitFor();
  const sources = await page.locator(".legend li > div > a").evaluateAll((links) => links.map((link) => link.textContent));
  assert.deepEqual(new Set(sources), new Set(row.of.split(",")));
  step("a patch is pointed at");
  await patch.hover();
  const passage = page.locator(".passage blockquote").first();
  await passage.waitFor();
  const words = (text) => new Set(text.toLowerCase().match(/\p{L}{4,}/gu));
  const [here, there] = [words(await patch.textContent()), words(await passage.textContent())];
  const common = [...here].filter((word) => there.has(word)).length;
  assert.ok(common >= 0.6 * here.size, `${common} of ${here.size} words of the patch stand in the passage`);
  assert.ok(
    await page
      .locator(".passage a")
      .first()
      .getAttribute("href")
      .then((href) => sources.map((id) => route("verdict", id)).includes(href)),
  );

  step("it is labelled");
  // A label needs the token, which is asked for; a wrong one is said to be wrong.
  await page.getByLabel("Why").fill("stitched together");
  await page.getByRole("button", { name: "Spam" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Token").fill("not-the-token");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await dialog.getByText("That was not the token").waitFor();
  await dialog.getByLabel("Token").fill(TOKEN_OF_RUN);
  await dialog.getByRole("button", { name: "Go on" }).click();
  const inForce = page.getByRole("list", { name: "Labels in force" });
  await inForce.getByText("spam").waitFor();
  await inForce.getByText("stitched together").waitFor();
  assert.deepEqual(await page.evaluate(() => [Object.keys(localStorage), document.cookie]), [[], ""]);

  // The next copy carries it.
  const copy = async (n) => {
    const url = `https://copy${n}.example/again`;
    await sendPages([{ ...quilt, id: undefined, url }]);
    return until(
      `the verdict on ${url}`,
      async () => (await api("GET", `/v1/verdicts?q=${encodeURIComponent(url)}`)).verdicts[0],
    );
  };
  step("the next copy is judged");
  const { id } = await copy(1);
  step("the copy carries the label");
  await page.goTo(route("verdict", id));
  await page.locator(".head .badge.label", { hasText: "spam" }).waitFor();

  step("a page is left before its texts have come");
  const texts = "**/v1/texts/**";
  await page.goTo("#/nowhere");
  const asked = [];
  await page.route(texts, (request) => void asked.push(request));
  await page.goTo(route("verdict", id));
  await page.getByRole("heading", { name: "Side by side" }).waitFor();
  await page.getByRole("heading", { name: "Scores" }).locator("..").locator("..").locator("table").first().waitFor();
  await until("the questions for both texts", () => asked.length === 2);
  await page.goTo(route("verdict", row.id));
  await page.unroute(texts);

  // Taken back, later ones do not; what was said stays to be read.
  step("the label is taken back");
  await inForce.getByRole("button", { name: "Undo spam" }).click();
  await page.getByText("No label is in force").waitFor();
  await page.getByText("History (2)").click();
  await page.getByRole("region", { name: "What was said before" }).getByText("took back").waitFor();
  step("a later copy is judged");
  assert.equal((await copy(2)).labels, undefined);

  step("what somebody else has said is taken back");
  await api("POST", "/v1/labels", { target: { document: row.id }, label: "ham", by: "somebody else" });
  await page.reload();
  await inForce.getByRole("button", { name: "Undo ham" }).click();
  // It is asked about first.
  await dialog.getByText("somebody else has said so").waitFor();
  await dialog.getByRole("button", { name: "Take it back" }).click();
  const toasts = page.locator("#toasts");
  await toasts.getByText("Took back ham").waitFor();
  await page.getByText("No label is in force").waitFor();

  step("and put on again, by the offer that is made");
  await toasts.getByRole("button", { name: "Put it on again" }).click();
  await toasts.getByText("Labelled ham").waitFor();
  await inForce.getByText("ham").waitFor();
  step("the list of all labels");
  await page.goTo("#/labels");
  await page.getByRole("button", { name: "Undo ham" }).click();
  await page.getByText("No label is in force").waitFor();
  await clean(page);
});
