// All labels that are in force.

import { get } from "./api.js";
import { card, el, empty, fill, loading, table, trouble } from "./element.js";
import { number } from "./format.js";
import { saidRow } from "./labelling.js";

const LISTED = 1000;

export default async function labels(main, { signal }) {
  const place = el("div", {}, loading("labels"));
  fill(main, el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Labels")), card("In force", {}, place));
  async function draw() {
    try {
      const { labels, n_older } = await get(`/v1/labels?limit=${LISTED}`, signal);
      const older =
        n_older > 0 &&
        el(
          "p",
          { class: "note" },
          `${number(n_older)} older records are not held here; `,
          el("code", {}, "seamripper label list"),
          " tells all.",
        );
      const columns = [
        ["Label", ""],
        ["Of what", ""],
        ["Who, and why", "optional"],
        ["When", "optional"],
        ["", "n"],
      ];
      fill(
        place,
        labels.length
          ? table(
              "Labels in force",
              columns,
              labels.map((said) => saidRow(said, draw)),
            )
          : empty(
              "No label is in force. Put one on a verdict or a cluster, or:",
              el("br"),
              el("code", {}, "seamripper label ID spam --why 'forty complaints'"),
            ),
        older,
      );
    } catch (error) {
      if (error.name !== "AbortError") fill(place, trouble(error, draw));
    }
  }
  await draw();
}
