// Elements, made of names and texts. What comes from a document becomes text and never markup: there is no other way in here.

const DRAWING = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "path", "line", "g"]);

// Characters that cannot be seen, that move the cursor, or that turn the text around them. What writing needs of them stays: joiners inside
// emoji and in scripts whose letters join; what chooses the form of an emoji, of a sign for a word, or of a Mongolian letter. A soft
// hyphen is odd in a name, and usual in a text.
const JOINING = ["Arabic", "Bengali", "Devanagari", "Gujarati", "Gurmukhi", "Kannada", "Khmer", "Malayalam", "Mongolian", "Myanmar"]
  .concat("Nko", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu", "Tibetan")
  .map((script) => `\\p{scx=${script}}`);
const NEEDED = [
  `[${JOINING.join("")}][\\u200c\\u200d]`,
  "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f]\\u200d(?=\\p{Extended_Pictographic})",
  "\\p{Extended_Pictographic}[\\ufe0e\\ufe0f]",
  "[0-9#*]\\ufe0f(?=\\u20e3)",
  "\\p{scx=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]",
  "\\p{scx=Mongolian}[\\u180b-\\u180d\\u180f]",
];
const UNSEEN = "\\p{Default_Ignorable_Code_Point}\\p{Cc}\\u2028\\u2029\\u2800\\ufff9-\\ufffb";
const odd = (...usual) => new RegExp(`[${UNSEEN}](?<!${[...usual, ...NEEDED].join("|")})`, "gu");
const ODD_ALL = odd("[\\t\\n\\u00ad]");
const ODD_IN_LINE = odd();

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

/** Of a name that is too long for its line the end is shown whatever is left out before it: members of one archive differ there. */
const END = 16;

/** A name in a line that may be too short for it. */
export function cut(text) {
  const letters = [...String(text)];
  let end = letters.length - END;
  // What belongs to the letter before stays with it.
  while (end > END && (/[\p{M}\p{Cf}\p{Emoji_Modifier}]/u.test(letters[end]) || letters[end - 1] === "\u200d")) end -= 1;
  if (end <= END) return name(text);
  const part = (kind, from, to) => {
    const element = name(letters.slice(from, to).join(""));
    element.classList.add(kind);
    return element;
  };
  return [part("begin", 0, end), part("end", end)];
}

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

/** A link to a verdict in a line that may be too short for its name. */
export const insideLine = (id, text, properties = {}) =>
  inside(toVerdict(id), cut(text), { title: plain(id), "aria-label": plain(text), ...properties });

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
