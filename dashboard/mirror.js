// A mirror: the document beside the one that it is a copy of, with the words that only one of them has.

import { difference } from "./difference.js";
import { el, facts, inside, name, outside, shown, toVerdict } from "./element.js";
import { count, share } from "./format.js";
import { RELATIONS, words } from "./names.js";

/** What the verdict says of it. */
export function resemblance({ mirror }) {
  const { of, url, canonical, resemblance, overlap, containment, direction, relation, signals, view, size, domains } = mirror;
  const directions = { equal: "the same", this_in_that: "this lies in the other", that_in_this: "the other lies in this" };
  return facts([
    ["Copy of", [inside(toVerdict(of), name(of)), url && url !== of && el("div", { class: "small" }, outside(url))]],
    ["Preferred copy", canonical !== of && inside(toVerdict(canonical), name(canonical))],
    ["Resemblance", share(resemblance)],
    [
      "Long sentences",
      `overlap ${share(overlap)}, containment ${share(containment)}; ${directions[direction] ?? words(direction)}`,
    ],
    ["Relation", `${words(relation)}: ${RELATIONS[relation] ?? ""}`],
    [
      "Found by",
      `${signals.length ? signals.join(", ") : "comparison of all"}; ${view === "shown" ? "the shown text" : view === "core" ? "its core" : view === "body" ? "the text below its subject" : "all text, also hidden"} matched`,
    ],
    [
      "Group",
      [
        `${count(size, "document")} on ${count(domains, "domain")} · `,
        inside(`#/verdicts?${new URLSearchParams({ group: of })}`, "those of late"),
      ],
    ],
  ]);
}

/** The two texts side by side. `passages` are what the explanation quotes, for where a text is gone. */
export function sides(here, there, { id, of }, passages) {
  if (here.gone || there.gone) return quotes(here.gone ?? there.gone, passages);
  const found = difference(here.text, there.text);
  const only = found ? found[0].concat(found[1]).filter(({ isOnly }) => isOnly).length : 0;
  const note = !found
    ? "The two differ too much, or are too long, for their words to be told apart here: both are shown as they are."
    : only
      ? "Marked are the words that only one of the two has."
      : "The two have the same words.";
  const cut = here.complete && there.complete ? "" : " Only the beginning of a text is there: what follows is not compared.";
  const side = (title, target, text, runs, mark) =>
    el(
      "section",
      {},
      el("h3", {}, `${title}: `, inside(toVerdict(target), name(target))),
      el(
        "div",
        { class: "text-box", tabindex: 0, role: "region", "aria-label": `Text of ${title.toLowerCase()}` },
        el(
          "p",
          { class: "text" },
          runs ? runs.map((run) => (run.isOnly ? el(mark, {}, shown(run.text)) : shown(run.text))) : shown(text),
        ),
      ),
    );
  return [
    el("p", { class: "note" }, note, cut),
    el(
      "div",
      { class: "sides" },
      side("This document", id, here.text, found?.[0], "ins"),
      side("The first of its kind", of, there.text, found?.[1], "del"),
    ),
  ];
}

function quotes(why, passages) {
  const both = passages.map(({ text_here, text_there }) => {
    const runs = difference(text_here, text_there);
    const quote = (text, part, mark) =>
      el(
        "blockquote",
        {},
        part ? part.map((run) => (run.isOnly ? el(mark, {}, shown(run.text)) : shown(run.text))) : shown(text),
      );
    return el(
      "div",
      { class: "sides" },
      el("div", { class: "passage" }, quote(text_here, runs?.[0], "ins")),
      el("div", { class: "passage" }, quote(text_there, runs?.[1], "del")),
    );
  });
  return [
    el("p", { class: "note" }, shown(why), both.length ? " Passages that both hold, the longest first:" : ""),
    el("div", { class: "stack" }, both),
  ];
}
