// A browser for the tests of the dashboard, and an eye on everything that must not happen in it.
//
// What is needed comes from the environment: BASE is the run, TOKEN its token, MODULES where packages are, OUT where pictures go.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";

const { BASE, TOKEN, MODULES, OUT, CHROMIUM = "/usr/bin/chromium" } = process.env;
const modules = createRequire(`${MODULES}/package.json`);
const { chromium } = modules("playwright-core");
const axe = readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

/** What has not happened by then does not happen: the machine may be busy. */
const PATIENCE_MS = 120_000;

export const TOKEN_OF_RUN = TOKEN;
export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** A page in a browser of its own session, with all that went wrong in it in `page.wrongs`. */
export async function opened(browser, { viewport = DESKTOP, colorScheme = "light", bypassCSP = false, base = BASE } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, bypassCSP, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.wrongs = [];
  page.on("pageerror", (error) => page.wrongs.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => (page.wrongs.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("popup", (popup) => page.wrongs.push(`popup: ${popup.url()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${base}/`) && !request.url().startsWith("blob:"))
      page.wrongs.push(`request: ${request.url()}`);
  });
  // That a question is answered with a problem is no mistake of the page.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      page.wrongs.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) =>
      window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`),
    );
  });
  page.goTo = (route) => page.goto(`${base}/${route}`);
  return page;
}

/** Nothing happened that must not. */
export async function clean(page) {
  assert.deepEqual(page.wrongs, []);
  assert.deepEqual(await page.evaluate(() => window.violations), []);
}

/** Asks the run itself. */
export async function api(method, path, body, type = "application/json") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${BASE}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body && { "content-type": type }) },
    body: body && text,
  });
  const answer = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${answer.slice(0, 500)}`);
  return JSON.parse(answer);
}

export const sendPages = (pages) =>
  api("POST", "/v1/pages", pages.map((page) => JSON.stringify(page)).join("\n"), "application/x-ndjson");

/** Waits until something is so. */
export async function until(what, isSo) {
  const begun = Date.now();
  for (;;) {
    const found = await isSo();
    if (found) return found;
    assert.ok(Date.now() - begun < PATIENCE_MS, `waited for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const judged = (n) => until(`${n} documents`, async () => (await api("GET", "/v1/stats")).total.documents >= n);

/** What axe finds wrong with a page. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target, failureSummary }) => `${target} ${failureSummary}`)
        .slice(0, 3)
        .join(" | ")}`,
  );
}

export async function picture(page, name, options = {}) {
  mkdirSync(OUT, { recursive: true });
  if (options.fullPage) await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: `${OUT}/${name}.png`, ...options });
}

export const route = (page, id) => `#/${page}/${encodeURIComponent(id)}`;

/** Runs a test in a browser. */
export async function promise(test) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  try {
    await test(browser);
  } finally {
    await browser.close();
  }
}
