// Elements, made of names and texts. What comes from a document becomes text and never markup: there is no other way in here.

const DRAWING = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "path", "line", "g"]);

// Characters that cannot be seen, that move the cursor, or that turn the text around them. The joiners of scripts and emoji stay.
const ODD =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const ODD_ALL = new RegExp(ODD, "gu");
const ODD_IN_LINE = new RegExp(`${ODD.source}|[\\t\\n]`, "gu");

/** An element. `on` holds listeners; children are nodes, texts, lists of them, or nothing. */
export function el(name, properties = {}, ...children) {
  const element = DRAWN.has(name) ? document.createElementNS(DRAWING, name) : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") Object.entries(value).forEach(([event, listener]) => element.addEventListener(event, listener));
    else if (key === "href" && !isSafe(value)) continue;
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

/** Puts children behind those that are there. */
export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Puts these in the place of whatever is there. */
export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

/** Whether it leads into this page, or to a document of the web: never to a script. */
function isSafe(address) {
  if (/^#/.test(address)) return true;
  try {
    return ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** A text whose odd characters can be seen; line breaks stay. */
export function shown(text, odd = ODD_ALL) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(odd)) {
    nodes.push(
      text.slice(end, match.index),
      el("span", { class: "odd", title: "a character that cannot be seen" }, code(match[0])),
    );
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

/** An id, a name, a label: one line, apart from the direction of what is around it. */
export const name = (text) => el("bdi", {}, shown(String(text), ODD_IN_LINE));

/** The same for an attribute. */
export const plain = (text) => String(text).replace(ODD_IN_LINE, (character) => `[${code(character)}]`);

/** A link to a document on the web, if it is one. Whoever follows it tells nobody where from. */
export function outside(url) {
  const link = el(
    "a",
    { href: url, target: "_blank", rel: "noopener noreferrer nofollow", title: "opens the document itself: it may be hostile" },
    name(url),
  );
  return link.hasAttribute("href") ? link : name(url);
}

/** A link inside the dashboard. */
export const inside = (route, children, properties = {}) => el("a", { href: route, ...properties }, children);

/** Where a verdict or a cluster is shown. */
export const toVerdict = (id) => `#/verdict/${encodeURIComponent(id)}`;
export const toCluster = (id) => `#/cluster/${encodeURIComponent(id)}`;

/** A part of a page: heading, something at its end, what is in it. */
export function card(title, { end = null, span = "", ...properties } = {}, ...children) {
  const id = `part-${(card.n = (card.n ?? 0) + 1)}`;
  const head = el("header", {}, el("h2", { id }, title), end && el("div", { class: "end row" }, end));
  return el("section", { class: `card ${span}`, "aria-labelledby": id, ...properties }, head, children);
}

/** A table whose columns are [title, class]; rows are lists of cells, the first of which may head its row. */
export function table(caption, columns, rows, { rowHead = false } = {}) {
  const head = columns.map(([title, kind]) =>
    title ? el("th", { scope: "col", class: kind }, title) : el("td", { class: kind }),
  );
  const cell = (value, index) =>
    rowHead && index === 0
      ? el("th", { scope: "row", class: columns[0][1] }, value)
      : el("td", { class: columns[index][1] }, value);
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, head)),
      el(
        "tbody",
        {},
        rows.map((row) => el("tr", {}, row.map(cell))),
      ),
    ),
  );
}

/** Names and what they are. Those that are nothing are left out. */
export function facts(pairs) {
  const there = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return el(
    "dl",
    { class: "facts" },
    there.map(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]),
  );
}

export const empty = (...children) => el("p", { class: "empty" }, children);
export const loading = (what) => el("p", { class: "loading", role: "status" }, `Loading ${what}…`);

/** What went wrong, and a way to try again. */
export function trouble(error, again) {
  const button = again && el("button", { type: "button", on: { click: again } }, "Try again");
  return el("div", { class: "trouble", role: "alert" }, el("p", {}, shown(error.message)), button);
}
