// What verdicts say, in words: classes, kinds, relations, labels.

import { el, name, plain } from "./element.js";
import { count, number, share } from "./format.js";

/** The classes, and what else a verdict can come to, in the order in which they are shown. */
export const SORTS = {
  mirror: "a near copy of another, or one inside the other",
  quilt: "stitched together from several others",
  template: "made by the same generator as others",
  original: "neither a copy, nor a quilt, nor a template",
  insufficient: "too little text to say whose it is",
  rejected: "it could not be read",
};

/** What a cluster is, and why it is called so. */
export const CLUSTER_KINDS = {
  template: ["template", "Its pages were made by one generator. That alone is no offence: shops and manuals are templates too."],
  link_farm: ["link farm", "Its pages were made by one generator, and most of its domains are linked to from others of it."],
  mirror: ["mirror", "Most of its pages are copies of one site on several hosts."],
  copy_paste: ["copy and paste", "The same text in one frame, under addresses that have nothing to do with each other."],
};

export const RELATIONS = {
  mirror: "the same under a similar address",
  copy: "the same elsewhere",
  boilerplate: "the same on many unrelated hosts",
  archive: "one inside the other, on one site",
  excerpt_list: "one inside the other, elsewhere",
  same_site: "pages of one site",
  citation: "one links to the other",
  link_list: "links to many and shows a little of each",
  scraping: "put together from many",
  shared_passages: "common passages and no link",
};

export const words = (text) => String(text).replaceAll("_", " ");

/** What a verdict comes to, as words of `SORTS`. */
export function sorts(verdict) {
  if (verdict.outcome !== "judged" && verdict.classes.length === 0) return [verdict.outcome];
  return verdict.classes.length ? verdict.classes : ["original"];
}

const badge = (sort) => el("span", { class: `badge ${Object.hasOwn(SORTS, sort) ? sort : ""}`, title: SORTS[sort] }, plain(sort));

export const badges = (verdict) => el("span", { class: "badges" }, sorts(verdict).map(badge));

/** A label that a verdict carries, or that is in force. */
export function label({ label, via, of, overridden }) {
  const way = via ? `by its ${via === "mirror" ? "group" : via}: ${plain(of)}${overridden ? "; outweighed by allow" : ""}` : null;
  return el(
    "span",
    { class: `badge label ${label === "allow" ? "allow" : ""} ${overridden ? "off" : ""}`, title: way },
    name(label),
  );
}

/** The first labels of a verdict; of the others how many they are, and which. */
export function labels(all, nShown) {
  const others = all.slice(nShown).map(({ label }) => plain(label));
  const more = others.length > 0 && el("span", { class: "badge label more", title: others.join(", ") }, `+${others.length}`);
  return [all.slice(0, nShown).map(label), more];
}

/** The evidence in one line. */
export function why(verdict) {
  const { mirror, quilt, template } = verdict;
  const parts = [];
  if (mirror) parts.push(`${share(mirror.resemblance)} like the first of ${number(mirror.size)}`);
  if (quilt) parts.push(`${share(quilt.patch_fraction)} from ${count(quilt.sources.length, "source")}`);
  if (template) parts.push(`${words(template.kind)}, ${count(template.size, verdict.kind === "email" ? "mail" : "page")} on ${count(template.domains, "domain")}`);
  if (verdict.reason) parts.push(words(verdict.reason));
  return parts.join("; ");
}
