// The last verdicts as a list to search and to choose from. However many there are, the rows in sight are what is in the page.

import { get } from "./api.js";
import { el, empty, fill, insideLine, trouble } from "./element.js";
import { ago, count, number } from "./format.js";
import { SORTS, badges, labels, why } from "./names.js";
import { Rows } from "./rows.js";

/** Verdicts that are fetched at a time: few enough to be taken in between two frames or three. */
const PAGE = 500;
/** Labels that are kept of each: one is shown, the others are named where it is pointed at. */
const LABELS = 8;
const FILTERS = ["q", "class", "kind", "label", "domain", "cluster", "group"];

/** What a row needs of a verdict: fifty thousand whole ones would be a burden. */
function kept(verdict) {
  const { id, url, source, outcome, classes, labels = [] } = verdict;
  return { id, url, outcome, classes, labels: labels.slice(0, LABELS), source: { time: source.time }, why: why(verdict) };
}

function row(verdict) {
  const cell = (kind, ...children) => el("td", { class: kind, role: "cell" }, children);
  return el(
    "tr",
    { class: "entry", role: "row" },
    cell("c-when soft", ago(verdict.source.time)),
    cell("c-class", badges(verdict)),
    cell("c-id", insideLine(verdict.id, verdict.url ?? verdict.id, { class: "line" })),
    cell("c-why soft", el("span", { class: "line", title: verdict.why }, verdict.why)),
    cell("c-labels", el("span", { class: "badges" }, labels(verdict.labels, 1))),
  );
}

const field = (title, id, input, wide) =>
  el("div", { class: `field ${wide ? "wide" : ""}` }, el("label", { for: id }, title), input);

const select = (id, none, options) =>
  el(
    "select",
    { id, name: id },
    el("option", { value: "" }, none),
    options.map((option) => el("option", { value: option }, option)),
  );

export default function verdicts(main, { signal, query, announce, replace }) {
  let [list, next, isLoading, isWhole, turn] = [[], null, false, false, 0];
  const inputs = {
    q: el("input", { id: "q", name: "q", type: "search", placeholder: "part of an id or address", autocomplete: "off" }),
    class: select("class", "every class", Object.keys(SORTS)),
    kind: select("kind", "pages and mails", ["page", "email"]),
    label: el("input", { id: "label", name: "label", placeholder: "any or none", autocomplete: "off" }),
    domain: el("input", { id: "domain", name: "domain", placeholder: "any", autocomplete: "off" }),
    cluster: el("input", { id: "cluster", name: "cluster", placeholder: "any", autocomplete: "off" }),
    group: el("input", { id: "group", name: "group", placeholder: "any", autocomplete: "off" }),
  };
  FILTERS.forEach((filter) => (inputs[filter].value = query.get(filter) ?? ""));
  const titles = {
    q: "Search",
    class: "Class",
    kind: "Kind",
    label: "Label",
    domain: "Domain",
    cluster: "Cluster",
    group: "Copies of",
  };
  const form = el(
    "form",
    { class: "card filters", role: "search", "aria-label": "Which verdicts" },
    // The last two come with links from elsewhere.
    FILTERS.map((filter, n) => (n < 5 || inputs[filter].value) && field(titles[filter], filter, inputs[filter], filter === "q")),
    el(
      "div",
      { class: "row" },
      el(
        "button",
        {
          type: "button",
          on: { click: () => (form.reset(), FILTERS.forEach((filter) => (inputs[filter].value = "")), changed()) },
        },
        "Clear",
      ),
      el("button", { type: "submit" }, "Refresh"),
    ),
  );
  const status = el("p", { class: "small soft", role: "status" });
  const columns = [
    ["When", "c-when"],
    ["Class", "c-class"],
    ["Document", "c-id"],
    ["Evidence", "c-why"],
    ["Labels", "c-labels"],
  ];
  const sheet = el(
    "table",
    { class: "verdicts", role: "table", "aria-label": "Verdicts, the newest first" },
    el(
      "thead",
      { role: "rowgroup" },
      el(
        "tr",
        { role: "row" },
        columns.map(([title, kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, title)),
      ),
    ),
  );
  const below = el("div", {});
  const part = el("div", { class: "card list" }, sheet, below);
  fill(
    main,
    el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Verdicts"), status),
    el("div", { class: "stack" }, form, part),
  );
  const rows = new Rows(sheet, { columns: columns.length, row: (n) => row(list[n]), more, signal });

  const asked = () =>
    new URLSearchParams(FILTERS.map((filter) => [filter, inputs[filter].value.trim()]).filter(([, value]) => value));

  async function more() {
    if (isLoading || isWhole || signal.aborted) return;
    isLoading = true;
    const mine = turn;
    const wanted = asked();
    wanted.set("limit", PAGE);
    if (next) wanted.set("before", next);
    said();
    try {
      const answer = await get(`/v1/verdicts?${wanted}`, signal);
      if (mine !== turn) return;
      for (const verdict of answer.verdicts) list.push(kept(verdict));
      next = answer.next ?? null;
      isWhole = next === null;
      isLoading = false;
      fill(below, list.length ? null : nothing());
    } catch (error) {
      if (error.name === "AbortError" || mine !== turn) return;
      isLoading = false;
      // A list of another run cannot be gone on with.
      if (error.reason === "gone") return changed();
      isWhole = true;
      fill(below, trouble(error, changed));
    }
    sheet.setAttribute("aria-rowcount", isWhole ? list.length + 1 : -1);
    rows.set(list.length);
    said();
  }

  function said() {
    const loaded = list.length
      ? `${number(list.length)} ${isWhole ? (list.length === 1 ? "verdict" : "verdicts") : "loaded, more below"}`
      : "";
    status.textContent = isLoading && !list.length ? "Loading…" : loaded;
    part.dataset.loaded = list.length;
    part.dataset.whole = isWhole;
  }

  function nothing() {
    return asked().size
      ? empty("No verdict that is held here is like that.")
      : empty("Nothing was judged yet. Send something:", el("br"), el("code", {}, "seamripper ingest crawl.warc.gz mails/"));
  }

  function changed() {
    turn += 1;
    [list, next, isLoading, isWhole] = [[], null, false, false];
    replace(`#/verdicts${asked().size ? `?${asked()}` : ""}`);
    rows.set(0, true);
    more().then(() => announce(`${count(list.length, "verdict")}${isWhole ? "" : " and more"}`));
  }

  let typing = null;
  form.addEventListener("submit", (event) => (event.preventDefault(), changed()));
  form.addEventListener("input", () => (clearTimeout(typing), (typing = setTimeout(changed, 250))));
  signal.addEventListener("abort", () => clearTimeout(typing));
  more();
}
