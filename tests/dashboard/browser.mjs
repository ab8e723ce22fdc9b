// A browser for the tests of the dashboard, and an eye on everything that must not happen in it.
//
// What is needed comes from the environment: BASE is the run, TOKEN its token, MODULES where packages are, OUT where pictures go.
// A test that fails names the step that it was at, and leaves pictures of its pages there, with all that stands in them.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

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
  // When it returns, the page of before is gone: what is found from then on is of the one that was asked for.
  page.goTo = async (route) => {
    const isThere = page.url().startsWith(`${base}/`) && route.startsWith("#");
    if (!isThere) return page.goto(`${base}/${route}`);
    await page.evaluate(
      (route) =>
        new Promise((done) => {
          if (location.hash === route) return done();
          addEventListener("hashchange", () => done(), { once: true });
          location.hash = route;
        }),
      route,
    );
  };
  return page;
}

/** Nothing happened that must not. */
export async function clean(page) {
  assert.deepEqual(page.wrongs, []);
  assert.deepEqual(await page.evaluate(() => window.violations), []);
}

/** Asks the run itself, as its clients are to: who is told to come again does so. */
export async function api(method, path, body, type = "application/json") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return until(`an answer to ${method} ${path}`, async () => {
    const response = await fetch(`${BASE}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body && { "content-type": type }) },
      body: body && text,
    });
    const answer = await response.text();
    if ([429, 503].includes(response.status) && response.headers.has("retry-after")) return null;
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${answer.slice(0, 500)}`);
    return JSON.parse(answer);
  });
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

const FAILED = `failed-${basename(process.argv[1], ".mjs")}`;
const steps = [["the browser is started", Date.now()]];

/** What the test does now. */
export const step = (what) => steps.push([what, Date.now()]);

/** Runs a test in a browser. */
export async function promise(test) {
  // What is left of a failure of before would be taken for that of today.
  mkdirSync(OUT, { recursive: true });
  for (const file of readdirSync(OUT)) if (file.startsWith(FAILED)) rmSync(`${OUT}/${file}`);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  try {
    await test(browser);
  } catch (error) {
    const left = await remains(browser, error).catch((failure) => `nothing could be kept of it: ${failure.message}`);
    console.log(`failed at: ${steps.at(-1)[0]}\n${left}`);
    throw error;
  } finally {
    await browser.close();
  }
}

/** Leaves what a failed test has come to: a picture of each page, what stands in it, what went wrong, and which steps were taken. */
async function remains(browser, error) {
  const name = `${OUT}/${FAILED}`;
  const begun = steps[0][1];
  const told = [...steps.map(([what, at]) => `${String(at - begun).padStart(8)} ms  ${what}`), "", error.stack];
  for (const [n, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
    const [picture, patience] = [`${name}-${n}.png`, { timeout: 10_000 }];
    const text = await page.locator("body").ariaSnapshot(patience).catch((failure) => failure.message);
    const isThere = await page.screenshot({ path: picture, ...patience }).then(() => true, () => false);
    told.push("", `${page.url()}${isThere ? `, as in ${picture}` : ""}`, ...(page.wrongs ?? []), text);
  }
  writeFileSync(`${name}.txt`, `${told.join("\n")}\n`);
  return told.join("\n");
}
