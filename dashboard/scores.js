// The numbers behind a verdict: scores beside their thresholds, and all features.

import { bar } from "./chart.js";
import { el, table } from "./element.js";
import { score } from "./format.js";
import { words } from "./names.js";

/** The name of a setting, which may go on in another line behind a sign. */
const broken = (setting) => setting.split(/(?<=[._])/).flatMap((part, n) => (n ? [el("wbr"), part] : [part]));

/** Scores that decide something. Bars have their mark at the threshold. */
export function scores(list) {
  const rows = list.map(({ class: of, score: what, value, threshold, setting, inclusive, crossed }) => {
    const top = Math.max(value, threshold) <= 1 ? 1 : Math.max(value, threshold) * 1.25;
    return [
      what,
      el("span", { class: of === "text" ? "soft" : `badge ${of}` }, of),
      score(value),
      bar(value / top, of === "text" ? "original" : of, threshold / top),
      [inclusive ? "≥ " : "> ", score(threshold)],
      el("span", { class: crossed ? "yes" : "no" }, crossed ? "enough" : "not enough"),
      el("code", {}, broken(setting)),
    ];
  });
  const columns = [
    ["Score", ""],
    ["Speaks for", "optional"],
    ["Value", "n"],
    ["", "optional meter"],
    ["Needed", "n"],
    ["", "whole"],
    ["Setting", "optional"],
  ];
  return table("Scores beside their thresholds", columns, rows, { rowHead: true });
}

export function features(all) {
  const entries = Object.entries(all);
  return table(
    "All features",
    [
      ["Feature", ""],
      ["Value", "n"],
    ],
    entries.map(([key, value]) => [el("code", { title: words(key) }, key), score(value)]),
    { rowHead: true },
  );
}
