// The style clusters that are templates, in the order that one likes.

import { get } from "./api.js";
import { bar } from "./chart.js";
import { el, empty, fill, inside, loading, name, toCluster, trouble } from "./element.js";
import { count, number, share } from "./format.js";
import { CLUSTER_KINDS } from "./names.js";

const ORDERS = { rank: "similarity × domains", size: "members", domains: "domains", recent: "told of last" };
const LISTED = 500;

export const kindBadge = (kind) =>
  el(
    "span",
    { class: `badge ${kind === "mirror" || kind === "copy_paste" ? "mirror" : kind === "link_farm" ? "rejected" : "template"}` },
    CLUSTER_KINDS[kind]?.[0] ?? kind,
  );

export default async function clusters(main, { signal, query, announce, replace }) {
  let order = Object.hasOwn(ORDERS, query.get("sort")) ? query.get("sort") : "rank";
  const kinds = el(
    "select",
    { id: "kind" },
    el("option", { value: "" }, "every kind"),
    Object.entries(CLUSTER_KINDS).map(([kind, [title]]) => el("option", { value: kind }, title)),
  );
  kinds.value = query.get("kind") ?? "";
  const orders = el(
    "select",
    { id: "sort" },
    Object.entries(ORDERS).map(([word, title]) => el("option", { value: word }, title)),
  );
  const place = el("div", { class: "card" }, loading("clusters"));
  const status = el("p", { class: "small soft", role: "status" });
  fill(
    main,
    el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Clusters"), status),
    el(
      "div",
      { class: "stack" },
      el(
        "form",
        { class: "card filters few", "aria-label": "Which clusters" },
        el("div", { class: "field" }, el("label", { for: "kind" }, "Kind"), kinds),
        el("div", { class: "field" }, el("label", { for: "sort" }, "Order"), orders),
      ),
      place,
    ),
  );
  kinds.addEventListener("change", () => draw(true));
  orders.addEventListener("change", () => ((order = orders.value), draw(true)));

  const column = (title, word) => {
    const sorted = word === order;
    const button = el(
      "button",
      {
        type: "button",
        on: { click: () => ((order = word), draw(true).then(() => place.querySelector(`[data-order=${word}]`)?.focus())) },
        "data-order": word,
      },
      title,
    );
    return el("th", { scope: "col", class: "n", "aria-sort": sorted ? "descending" : null }, button);
  };

  async function draw(isChange) {
    orders.value = order;
    const wanted = new URLSearchParams({ sort: order, ...(kinds.value && { kind: kinds.value }) });
    if (isChange) replace(`#/clusters?${wanted}`);
    try {
      const { clusters, n } = await get(`/v1/clusters?${wanted}&limit=${LISTED}`, signal);
      status.textContent = n > clusters.length ? `the first ${number(clusters.length)} of ${number(n)}` : count(n, "cluster");
      if (!clusters.length)
        return fill(
          place,
          empty(
            kinds.value
              ? "No cluster of this kind is known."
              : "No cluster has enough members yet: from the fifth page of one style on it is a template.",
          ),
        );
      const top = Math.max(...clusters.map(({ size }) => size));
      const row = ({ id, size, domains, similarity, rank, kind, leaders }) =>
        el(
          "tr",
          {},
          el(
            "th",
            { scope: "row" },
            inside(toCluster(id), name(leaders[0] ?? id)),
            el("div", { class: "narrow" }, kindBadge(kind)),
            el("div", { class: "small soft mono" }, name(id)),
          ),
          el("td", { class: "optional" }, kindBadge(kind)),
          el("td", { class: "n" }, number(size), bar(size / top)),
          el("td", { class: "n" }, number(domains)),
          el("td", { class: "n optional" }, share(similarity)),
          el("td", { class: "n optional" }, number(Math.round(rank))),
        );
      fill(
        place,
        el(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "Clusters" },
          el(
            "table",
            {},
            el("caption", { class: "unseen" }, "Clusters"),
            el(
              "thead",
              {},
              el(
                "tr",
                {},
                el("th", { scope: "col" }, "For example"),
                el("th", { scope: "col", class: "optional" }, "Kind"),
                column("Members", "size"),
                column("Domains", "domains"),
                el("th", { scope: "col", class: "n optional" }, "Mean similarity"),
                (() => {
                  const rank = column("Rank", "rank");
                  rank.classList.add("optional");
                  return rank;
                })(),
              ),
            ),
            el("tbody", {}, clusters.map(row)),
          ),
        ),
      );
      if (isChange) announce(`${count(n, "cluster")}, by ${ORDERS[order]}`);
    } catch (error) {
      if (error.name !== "AbortError")
        fill(
          place,
          trouble(error, () => draw(isChange)),
        );
    }
  }
  await draw();
}
