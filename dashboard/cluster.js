// A style cluster: what it is and why, how it grew, and who is in it.

import { at, get } from "./api.js";
import { ceiling, chart } from "./chart.js";
import { kindBadge } from "./clusters.js";
import { card, el, empty, facts, fill, inside, loading, name, table, toCluster, toVerdict, trouble } from "./element.js";
import { ago, count, number, share } from "./format.js";
import { labelling } from "./labelling.js";
import { CLUSTER_KINDS, badges } from "./names.js";

const MEMBERS = 100;

export default async function cluster(main, { signal, id, announce }) {
  const place = el("div", {}, loading("the cluster"));
  fill(main, el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Cluster ", name(id))), place);
  async function draw() {
    try {
      const answer = await get(`${at("/v1/clusters", id)}?members=${MEMBERS}`, signal);
      const { cluster, members, growth = [] } = answer;
      fill(
        place,
        el(
          "div",
          { class: "grid" },
          el(
            "div",
            { class: "stack span-8" },
            what(cluster),
            card("Growth", {}, grown(growth, cluster)),
            card(`Members of late (${number(members.length)} of ${number(cluster.size)})`, {}, joined(members)),
          ),
          el(
            "div",
            { class: "stack span-4" },
            labelling([["this cluster", { cluster: cluster.id }]], signal, announce),
            card("Leaders", {}, leaders(cluster)),
          ),
        ),
      );
    } catch (error) {
      if (error.name !== "AbortError") fill(place, trouble(error, draw));
    }
  }
  await draw();
}

function what({ kind, kind_of_documents, size, domains, similarity, rank, linked, copies, merged_into, expired }) {
  return card(
    "What it is",
    { end: kindBadge(kind) },
    el("p", {}, CLUSTER_KINDS[kind]?.[1] ?? ""),
    (merged_into || expired) &&
      el(
        "p",
        { class: "note" },
        merged_into
          ? ["It has become part of ", inside(toCluster(merged_into), name(merged_into)), "."]
          : "It has gone from the store: nothing joins it any more.",
      ),
    facts([
      ["Members", count(size, kind_of_documents === "email" ? "mail" : "page")],
      ["Domains", number(domains)],
      ["Mean similarity", `${share(similarity)} to the leaders that they joined`],
      ["Rank", `${number(Math.round(rank * 10) / 10)} (similarity × domains)`],
      ["Link to each other", `${share(linked)} link to the domain of another member`],
      ["Copies", `${share(copies)} are copies of an earlier document`],
    ]),
  );
}

/** Each time that it was told of, which is when it has grown by a tenth; and what it has now, so that there is one number to be read. */
function grown(told, { size, domains, merged_into, expired }) {
  const isOver = merged_into || expired || !told.length;
  const growth = isOver ? told : [...told, { time: new Date().toISOString(), size, domains }];
  if (growth.length < 2) return empty("Nothing is known yet of how it grew.");
  const times = growth.map(({ time }) => Date.parse(time));
  const [from, to] = [times[0], times.at(-1)];
  const top = ceiling(Math.max(...growth.map(({ size, domains }) => Math.max(size, domains))));
  const points = (key) => growth.map((point, n) => ({ x: times[n], y: point[key] }));
  const last = growth.at(-1);
  const said = `From ${number(growth[0].size)} to ${count(last.size, "member")}, and from ${number(growth[0].domains)} to ${count(last.domains, "domain")}`;
  return [
    chart([points("size"), points("domains")], { from, to: Math.max(to, from + 1), top, words: said, steps: true }),
    el(
      "div",
      { class: "axis" },
      ago(growth[0].time),
      el(
        "span",
        {},
        el("span", { class: "key" }, `members ${isOver ? "at last" : "now"}: ${number(last.size)}`),
        " ",
        el("span", { class: "key second" }, `domains: ${number(last.domains)}`),
        ` · top line: ${number(top)}`,
      ),
      ago(last.time),
    ),
  ];
}

function joined(members) {
  if (!members.length) return empty("None of its members was judged of late.");
  return table(
    "Members of late",
    [
      ["Document", ""],
      ["Class", ""],
      ["Judged", "optional"],
    ],
    members.map((verdict) => [inside(toVerdict(verdict.id), name(verdict.id)), badges(verdict), ago(verdict.source.time)]),
    { rowHead: true },
  );
}

function leaders({ leaders }) {
  if (!leaders.length) return empty("It has none any more.");
  return el(
    "div",
    { class: "stack" },
    el("p", { class: "small soft" }, "Others are compared with these; the oldest first."),
    el(
      "ul",
      { class: "stack plain-list" },
      leaders.map((id) => el("li", {}, inside(toVerdict(id), name(id)))),
    ),
  );
}
