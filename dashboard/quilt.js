// A quilt: its text with the patches in the colours of their sources, and beside it what stands in the source.

import { bar } from "./chart.js";
import { el, fill, inside, name, outside, plain, shown, toVerdict } from "./element.js";
import { count, share } from "./format.js";
import { pieces } from "./text.js";

const N_COLOURS = 8;
const colour = (index) => `s${(index % N_COLOURS) + 1}`;
const swatch = (index) => el("span", { class: `swatch ${colour(index)}`, "aria-hidden": "true" }, String(index + 1));

const quotes = (shared) => new Map(shared.filter((pair) => pair.class === "quilt").map((pair) => [pair.of, pair]));

/**
 * The card's content. `text` is what `textOf` gives, `shared` what the explanation quotes of each source; `again` gets that once more, for
 * when the server had no time for all of them.
 */
export function quilt({ quilt: { sources, patch_fraction, kind } }, text, shared, again) {
  let quoted = quotes(shared);
  const panel = el("div", { class: "panel", "aria-live": "polite" }, hint());
  const view = text.gone
    ? passages(sources, quoted, text.gone)
    : patched(text, sources, (piece) => {
        const reread = () => again().then((shared) => ((quoted = quotes(shared)), show(panel, piece, sources, quoted, reread)));
        show(panel, piece, sources, quoted, reread);
      });
  const said = kind === "aggregator" ? "It links to its sources: an aggregator." : "It does not link to its sources.";
  return [
    el("p", {}, `${share(patch_fraction)} of its words stand in ${count(sources.length, "other document")}. ${said}`),
    el(
      "div",
      { class: "quilt-view" },
      view.element,
      el("div", { class: "side stack" }, panel, el("div", {}, el("h3", {}, "Sources"), legend(sources, view.jump))),
    ),
  ];
}

/** A button that does something once, and can be tried again where that fails. */
function once(title, work) {
  const button = el("button", { type: "button", class: "plain" }, title);
  button.addEventListener("click", () => {
    button.disabled = true;
    work().catch((error) => error.name === "AbortError" || ((button.disabled = false), (button.title = plain(error.message))));
  });
  return button;
}

const hint = () =>
  el("p", { class: "note" }, "Point at a patch, or move to one with Tab and the arrow keys, to see the passage in its source.");

/** The text, with one patch in the order of the keyboard; arrows go to the others. */
function patched({ text, complete, from }, sources, chosen) {
  const marks = [];
  const all = pieces(text, sources);
  const content = all.map((piece) => {
    if (piece.source === null) return shown(piece.text);
    const title = `patch ${marks.length + 1}, source ${piece.source + 1}`;
    const mark = el(
      "span",
      {
        class: `patch ${colour(piece.source)}`,
        role: "button",
        tabindex: marks.length ? -1 : 0,
        "aria-roledescription": title,
        "data-source": piece.source + 1,
      },
      shown(piece.text),
    );
    marks.push(mark);
    const show = () => {
      marks.forEach((other) => (other.classList.toggle("current", other === mark), (other.tabIndex = other === mark ? 0 : -1)));
      chosen(piece);
    };
    mark.addEventListener("mouseenter", show);
    mark.addEventListener("focus", show);
    mark.addEventListener("click", () => mark.focus());
    return mark;
  });
  const box = el("div", { class: "text-box" }, el("p", { class: "text" }, content));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = marks.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    marks[Math.max(0, Math.min(marks.length - 1, at + step))].focus();
  });
  const cut =
    !complete && `This is the beginning of the text${from === "excerpt" ? ", as the store keeps it: its record is gone" : ""}.`;
  return {
    element: el("div", { class: "stack" }, el("div", {}, ribbon(all), box, cut && el("p", { class: "note" }, cut))),
    jump(index) {
      const mark = marks.find((other) => other.dataset.source === String(index + 1));
      mark?.focus();
      mark?.scrollIntoView({ block: "center" });
    },
  };
}

/** The whole text as one band. */
function ribbon(all) {
  const parts = all.map(({ text, source }) => {
    const part = el("i", { class: source === null ? "" : colour(source) });
    part.style.flex = `${text.length} 0 0`;
    return part;
  });
  return el("div", { class: "ribbon", "aria-hidden": "true" }, parts);
}

/** What the source says there: the quoted passages that meet the patch, the longest first. */
function show(panel, { source, begin, end, text }, sources, quoted, reread) {
  const { of, url } = sources[source];
  const pair = quoted.get(of);
  const meet = (pair?.texts?.passages ?? [])
    .map((passage) => ({ ...passage, common: Math.min(end, passage.here[1]) - Math.max(begin, passage.here[0]) }))
    .filter(({ common }) => common > 0)
    .sort((a, b) => b.common - a.common)
    .slice(0, 3);
  const why =
    !pair || pair.late
      ? "The source was not read in time. "
      : pair.texts === null
        ? "The text of the source is gone."
        : "No passage is quoted here.";
  const said = meet.length
    ? meet.map((passage) => el("blockquote", {}, shown(passage.text_there)))
    : el("p", { class: "small soft" }, why, pair?.late && once("Read it again", reread), el("span", { class: "unseen" }, text.slice(0, 80)));
  fill(
    panel,
    el(
      "div",
      { class: `passage ${colour(source)}` },
      el("h3", {}, "In source ", String(source + 1)),
      inside(toVerdict(of), name(of)),
      url && url !== of && el("div", { class: "small" }, outside(url)),
      said,
    ),
  );
}

function legend(sources, jump) {
  return el(
    "ul",
    { class: "legend" },
    sources.map(({ of, url, share: part, linked }, index) =>
      el(
        "li",
        { class: colour(index) },
        swatch(index),
        el(
          "div",
          {},
          inside(toVerdict(of), name(of)),
          el(
            "div",
            { class: "small soft" },
            linked ? "linked" : "not linked",
            url
              ? [
                  " · ",
                  el(
                    "a",
                    {
                      href: url,
                      target: "_blank",
                      rel: "noopener noreferrer nofollow",
                      "aria-label": `open source ${index + 1} on the web`,
                    },
                    "open",
                  ),
                ]
              : null,
            jump && [
              " · ",
              el(
                "button",
                {
                  type: "button",
                  class: "small",
                  "aria-label": `first patch of source ${index + 1}`,
                  on: { click: () => jump(index) },
                },
                "first patch",
              ),
            ],
          ),
        ),
        el("span", { class: "n" }, share(part)),
        bar(part),
      ),
    ),
  );
}

/** Where the text itself cannot be had: what the explanation quotes of it. */
function passages(sources, quoted, why) {
  const found = sources.flatMap(({ of }, index) =>
    (quoted.get(of)?.texts?.passages ?? []).map((passage) => ({ ...passage, index })),
  );
  found.sort((a, b) => a.here[0] - b.here[0]);
  const quotes = found.map(({ index, text_here }) =>
    el("div", { class: `passage ${colour(index)}` }, swatch(index), el("blockquote", {}, shown(text_here))),
  );
  const note = el("p", { class: "note" }, shown(why), quotes.length ? " These passages stand in its sources as well:" : "");
  return {
    element: el("div", { class: "text-box stack", tabindex: 0, role: "region", "aria-label": "Passages" }, note, quotes),
    jump: null,
  };
}
