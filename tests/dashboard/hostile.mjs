// Hostile documents are shown as what they are: text. No script of theirs runs, nothing is asked for elsewhere, and nothing they hold
// becomes markup or a link to a script.

import assert from "node:assert/strict";
import { PHONE, api, clean, judged, opened, promise, route, sendPages, step } from "./browser.mjs";
import { pages } from "./corpus.mjs";

const BAIT = `<img src=x onerror="alert(1)"><script>alert(2)</script><svg onload=alert(3)><a href="javascript:alert(4)" onclick=alert(5)>x</a><style>*{display:none}</style><base href="//elsewhere.example/">`;
const TURNED = "safe-\u202Egpj.exe\u2066\u200B\u0007\u{E0041}\uFE0F\u3164-end";
const UNSEEN = "[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0007\\u{e0041}\\ufe0f\\u3164]";
const LONG = `https://long.example/${"a".repeat(2000)}`;
const IDS = [
  BAIT,
  "javascript:alert(6)",
  TURNED,
  LONG,
  "\"'><b onmouseover=alert(7)>",
  "../../v1/labels?x=#/../%2e%2e",
  "{{constructor.constructor('alert(8)')()}}",
  "data:text/html,<script>alert(9)</script>",
  "..",
];

await promise(async (browser) => {
  const base = pages().slice(0, 12);
  await sendPages(base);
  await judged(base.length);
  // Copies of one page, so that each of them is somebody's source and evidence.
  const escaped = BAIT.replaceAll("<", "&lt;");
  const html = (n) =>
    `<html><head><title>${escaped}</title></head><body><p>${base[0].html.replace(/<[^>]*>/g, " ")}</p><p>${escaped} ${TURNED} ${n}</p><script>alert(10)</script></body></html>`;
  await sendPages(
    IDS.map((id, n) => ({
      id,
      url: n % 2 ? `https://h${n}.example/${encodeURIComponent(id).slice(0, 60)}` : undefined,
      html: html(n),
    })),
  );
  await judged(base.length + IDS.length);
  for (const id of IDS.slice(0, 3)) {
    await api("POST", "/v1/labels", {
      target: { document: id },
      label: "<b onmouseover=alert(11)>",
      by: "\u202E<script>alert(12)</script>",
      why: BAIT,
    });
  }
  await sendPages([{ url: "https://last.example/", html: html(99) }]);
  await judged(base.length + IDS.length + 1);

  for (const viewport of [undefined, PHONE]) {
    const page = await opened(browser, { viewport });
    for (const [target, text] of [
      ["", null],
      ["#/verdicts", null],
      ["#/labels", "alert(11)"],
      ["#/clusters", null],
      ...IDS.map((id) => [route("verdict", id), { [TURNED]: "U+202E", "..": "--path-as-is" }[id] ?? id.slice(0, 200)]),
    ]) {
      step(`${target.slice(0, 80)} at ${viewport?.width ?? "full"} width`);
      await page.goTo("#/nowhere");
      await page.goTo(target);
      await page.locator("h1").waitFor();
      await page.waitForFunction(() => !document.querySelector(".loading"));
      if (text) assert.ok((await page.locator("main").innerText()).includes(text), `${target} shows ${text}`);
      const odd = await page.evaluate(() => {
        const own = new Set(["/dashboard/favicon.svg"]);
        const made = [
          ...document.querySelectorAll("main :is(script, img, iframe, object, embed, base, style, link, form[action])"),
        ].map((element) => element.outerHTML.slice(0, 200));
        const images = [...document.images].filter((image) => !own.has(image.getAttribute("src"))).map((image) => image.src);
        const links = [...document.querySelectorAll("a[href]")].filter(({ href, rel, target }) => {
          const isOwn = href.startsWith(`${location.origin}/#`);
          return (
            !isOwn &&
            !(
              /^https?:/.test(href) &&
              target === "_blank" &&
              ["noopener", "noreferrer", "nofollow"].every((word) => rel.includes(word))
            )
          );
        });
        const listeners = [...document.querySelectorAll("*")].filter((element) =>
          [...element.attributes].some(({ name }) => name.startsWith("on")),
        );
        return [
          ...made,
          ...images,
          ...links.map((link) => link.outerHTML.slice(0, 200)),
          ...listeners.map((element) => element.outerHTML.slice(0, 200)),
        ];
      });
      assert.deepEqual(odd, [], target);
      // What turns text around is told by its number, and stands in no text or attribute.
      const turned = await page.evaluate((unseen) => {
        const isTurned = (text) => new RegExp(unseen, "u").test(text);
        const told = [...document.querySelectorAll("[title], [aria-label]")].map(({ title, ariaLabel }) => title + (ariaLabel ?? ""));
        return isTurned(document.body.innerText) || told.some(isTurned);
      }, UNSEEN);
      assert.equal(turned, false, `${target} is turned around`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${target} is ${wide} pixels too wide at ${viewport?.width}`);
    }
    // Whoever moves over everything sets nothing off either.
    for (const link of await page.locator("main a, main [role=button], main td").all())
      await link.hover({ force: true, timeout: 1000 }).catch(() => {});
    await clean(page);
  }
});
