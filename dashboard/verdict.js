// A verdict with its evidence: what it is, whose words it holds, whose copy it is, and every number behind that.

import { at, get } from "./api.js";
import { kindBadge } from "./clusters.js";
import {
  card,
  el,
  empty,
  facts,
  fill,
  inside,
  loading,
  name,
  outside,
  shown,
  table,
  toCluster,
  toVerdict,
  trouble,
} from "./element.js";
import { ago, bytes, count, number, share } from "./format.js";
import { labelling } from "./labelling.js";
import { resemblance, sides } from "./mirror.js";
import { RELATIONS, badges, label, sorts, SORTS, words } from "./names.js";
import { quilt } from "./quilt.js";
import { features, scores } from "./scores.js";
import { textOf } from "./text.js";

const PASSAGES = 100;

export default async function verdict(main, { signal, id, announce }) {
  const place = el("div", {}, loading("the verdict"));
  fill(main, el("div", { class: "head" }, el("h1", { tabindex: -1, class: "grow" }, name(id))), place);
  async function draw() {
    try {
      const { verdict, known } = await get(at("/v1/documents", id), signal);
      if (verdict) return shownAll(main, place, verdict, signal, announce);
      fill(
        place,
        el(
          "div",
          { class: "card" },
          el("p", {}, "Its verdict is not held any more. What the store knows of it:"),
          recorded(known),
        ),
      );
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(place, error.status === 404 ? el("div", { class: "card" }, empty(shown(error.message))) : trouble(error, draw));
    }
  }
  await draw();
}

const recorded = (known) =>
  facts([
    [
      "Group",
      known?.group && [
        `${count(known.group.size, "document")}, the first of them `,
        inside(toVerdict(known.group.head), name(known.group.head)),
      ],
    ],
  ]);

function shownAll(main, place, verdict, signal, announce) {
  const { id, domain, cluster, classes, url } = verdict;
  main.querySelector("h1").after(badges(verdict), ...(verdict.labels ?? []).map(label));
  const text = textOf(id, signal);
  const explanation = () => get(`${at("/v1/explain", id)}?passages=${PASSAGES}`, signal);
  const explained = explanation();
  // Each part says for itself what went wrong.
  [text, explained].forEach((promise) => promise.catch(() => {}));
  const targets = [
    ["this document and its copies", { document: id }],
    domain && [`the domain ${domain}`, { domain }],
    cluster && ["its cluster", { cluster }],
  ].filter(Boolean);
  const judged = verdict.outcome !== "rejected";
  const isAlone = judged && !classes.includes("quilt") && !classes.includes("mirror");
  const wide = [
    classes.includes("quilt") &&
      later("Patches", "the text and its sources", async () => quilt(verdict, await text, (await explained).shared, async () => (await explanation()).shared)),
    classes.includes("mirror") && later("Side by side", "both texts", () => beside(verdict, text, explained, signal)),
  ];
  const left = [
    judged && later("Scores", "scores", async () => scores((await explained).scores)),
    verdict.related && related(verdict.related),
  ];
  const numbers =
    verdict.features &&
    el(
      "details",
      {},
      el("summary", {}, `All ${Object.keys(verdict.features).length} numbers, for classifiers`),
      features(verdict.features),
    );
  fill(
    place,
    el(
      "div",
      { class: "stack" },
      el(
        "div",
        { class: "grid" },
        el(
          "div",
          { class: "stack span-8" },
          summary(verdict, url),
          classes.includes("mirror") && card("Copy", {}, resemblance(verdict)),
          classes.includes("template") && template(verdict),
          isAlone && later("Text", "the text", async () => alone(await text)),
        ),
        el("div", { class: "stack span-4" }, labelling(targets, signal, announce)),
      ),
      wide,
      el(
        "div",
        { class: "grid" },
        el("div", { class: "stack span-8" }, left),
        el("div", { class: "stack span-4" }, numbers && card("Features", {}, numbers)),
      ),
    ),
  );
}

/** A card that is filled when what it needs is there. */
function later(title, what, content) {
  const place = el("div", { class: "stack" }, loading(what));
  content().then(
    (parts) => fill(place, parts),
    (error) => error.name === "AbortError" || fill(place, trouble(error)),
  );
  return card(title, {}, place);
}

function summary(verdict, url) {
  const { source, revision, kind } = verdict;
  const said = sorts(verdict)
    .map((sort) => SORTS[sort])
    .join("; ");
  return card(
    "Verdict",
    {},
    el("p", {}, `${said[0].toUpperCase()}${said.slice(1)}.`),
    facts([
      ["Address", url && outside(url)],
      ["Domain", verdict.domain && inside(`#/verdicts?${new URLSearchParams({ domain: verdict.domain })}`, name(verdict.domain))],
      ["Reason", verdict.reason && words(verdict.reason)],
      [
        "Seen before",
        verdict.recrawl && (verdict.recrawl === "unchanged" ? "yes, with the same text" : "yes, with another text"),
      ],
      ["Cut off", verdict.truncated && "a limit cut something off; the rest was judged"],
      ["Cluster", verdict.cluster && inside(toCluster(verdict.cluster), name(verdict.cluster))],
      [
        "Record",
        [
          kind === null ? "" : `${kind}, `,
          el("span", { class: "mono" }, name(source.topic), ` / ${source.partition} / ${number(source.offset)}`),
        ],
      ],
      ["Came", ago(source.time)],
      [
        "Revision",
        revision === 0 ? "0: what was said when it came" : `${number(revision)}: later documents changed what was said first`,
      ],
    ]),
  );
}

async function beside(verdict, text, explained, signal) {
  const there = textOf(verdict.mirror.of, signal);
  // Where the other text fails first, nobody waits for this one any more.
  there.catch(() => {});
  const pair = (await explained.catch(() => null))?.shared.find(({ class: of }) => of === "mirror");
  return sides(await text, await there, { id: verdict.id, of: verdict.mirror.of }, pair?.texts?.passages.slice(0, 20) ?? []);
}

function template({ template }) {
  const { cluster, frame, style, bins, size, domains, kind } = template;
  return card(
    "Template",
    { end: kindBadge(kind) },
    facts([
      ["Cluster", inside(toCluster(cluster), name(cluster))],
      ["Members then", `${number(size)} on ${count(domains, "domain")}, when this was judged; the cluster's page says how many now`],
      ["Page frame", `${share(frame)} like its leader's`],
      ["Style", `${share(style)} like its leader's; ${bins} of 128 bins agree`],
    ]),
  );
}

function related(list) {
  const rows = list.map(({ of, url, relation, overlap, containment }) => [
    [inside(toVerdict(of), name(of)), url && url !== of && el("div", { class: "small" }, outside(url))],
    [words(relation), el("div", { class: "small soft" }, RELATIONS[relation] ?? "")],
    share(overlap),
    share(containment),
  ]);
  return card(
    "Related",
    {},
    el("p", { class: "small soft" }, "They share rare sentences with it. That has no effect on its class."),
    table(
      "Related documents",
      [
        ["Document", ""],
        ["Relation", ""],
        ["Overlap", "n"],
        ["Containment", "n optional"],
      ],
      rows,
      { rowHead: true },
    ),
  );
}

function alone(text) {
  if (text.gone) return el("p", { class: "note" }, shown(text.gone));
  if (!text.text) return empty("It has no visible text.");
  const cut = !text.complete && el("p", { class: "note" }, `The beginning${text.n_bytes ? ` of ${bytes(text.n_bytes)}` : ""}.`);
  return [
    el(
      "div",
      { class: "text-box", tabindex: 0, role: "region", "aria-label": "Text of the document" },
      el("p", { class: "text" }, shown(text.text)),
    ),
    cut,
  ];
}
