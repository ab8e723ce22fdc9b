// How the run is doing: how fast, what it says, how far behind it is, and what it holds.

import { every, get } from "./api.js";
import { bar, ceiling, chart } from "./chart.js";
import { card, el, facts, fill, inside, loading, name, table, trouble } from "./element.js";
import { feed } from "./feed.js";
import { bytes, count, duration, number, rate, share } from "./format.js";
import { SORTS, words } from "./names.js";

const EVERY_S = 2;
const MINUTES = 5;

/** Documents in a second over the last minutes: averages from before this page was opened, then what it has seen. */
class Pace {
  samples = [];
  last = null;

  note({ uptime_s, total, windows }) {
    const now = uptime_s;
    if (this.last === null || now < this.last.at) this.samples = Pace.before(now, windows);
    else if (now > this.last.at)
      this.samples.push({ x: now, y: Math.max(0, total.documents - this.last.n) / (now - this.last.at) });
    this.last = { at: now, n: total.documents };
    // The line goes on to the edge: one point beyond it stays.
    const begin = now - 60 * MINUTES;
    this.samples = this.samples.filter((_, n, all) => n + 1 === all.length || all[n + 1].x >= begin);
  }

  /** What the windows tell of the time before: steps, each with its average. */
  static before(now, windows) {
    const steps = [];
    const inner = { seconds: 0, documents: 0 };
    for (const window of [...windows].sort((a, b) => a.seconds - b.seconds)) {
      const [end, begin] = [now - inner.seconds, Math.max(0, now - window.seconds)];
      if (end > begin) {
        const y = Math.max(0, window.documents - inner.documents) / (end - begin);
        steps.unshift({ x: begin, y }, { x: end, y });
      }
      Object.assign(inner, { seconds: window.seconds, documents: window.documents });
    }
    return steps;
  }

  drawn() {
    const now = this.last.at;
    const top = ceiling(Math.max(...this.samples.map(({ y }) => y), 1));
    const span = Math.min(60 * MINUTES, Math.max(60, now));
    const said = `Documents in a second over the last ${duration(span)}: at most ${rate(top)}, now ${rate(this.samples.at(-1)?.y ?? 0)}`;
    return [
      chart([this.samples], { from: now - span, to: now, top, words: said }),
      el(
        "div",
        { class: "axis", "aria-hidden": "true" },
        el("span", {}, `${duration(span)} ago`),
        el("span", {}, `top line: ${rate(top)} /s`),
        el("span", {}, "now"),
      ),
    ];
  }
}

const figure = (title, value, unit, below) =>
  el(
    "section",
    { class: "card figure span-3" },
    el("h2", {}, title),
    el("p", { class: "value" }, value, unit && el("small", {}, ` ${unit}`)),
    el("p", { class: "small" }, below),
  );

function figures({ windows, lag, snapshot, memory, total, uptime_s }) {
  const [now, minute] = windows;
  const behind =
    lag === null
      ? ["–", null, "the bus does not say"]
      : [number(lag.records), null, lag.records ? "records were not judged yet" : "all that came was judged"];
  return [
    figure(
      "Documents in a second",
      rate(now.documents_per_s),
      "/s",
      `${rate(minute.documents_per_s)} /s over a minute; ${count(total.documents, "document")} in ${duration(uptime_s)}`,
    ),
    figure("Lag", behind[0], lag ? (lag.records === 1 ? "record" : "records") : null, behind[2]),
    figure(
      "Memory",
      memory.resident_bytes === null ? "–" : bytes(memory.resident_bytes),
      null,
      `resident, all in all; tables of the store: ${bytes(memory.store_bytes)} at most`,
    ),
    figure(
      "Last snapshot",
      snapshot ? duration(snapshot.age_s) : "none",
      snapshot ? "ago" : null,
      snapshot ? bytes(snapshot.bytes) : "none was written yet",
    ),
  ];
}

function classes({ total, windows }, chosen, choose) {
  const spans = [...windows.map((window) => [duration(window.seconds), window]), ["all", total]];
  const counts = spans[chosen][1];
  const buttons = spans.map(([title], n) =>
    el("button", { type: "button", "aria-pressed": String(n === chosen), on: { click: () => choose(n) } }, title),
  );
  const rows = Object.entries(SORTS).map(([sort, what]) => {
    const part = counts.documents ? counts[sort] / counts.documents : 0;
    return [
      inside(`#/verdicts?class=${sort}`, el("span", { class: `badge ${sort}`, title: what }, sort)),
      bar(part, sort),
      number(counts[sort]),
      share(part),
    ];
  });
  return [
    el("div", { class: "row", role: "group", "aria-label": "Over which time" }, buttons),
    table(
      "Documents by class",
      [
        ["Class", ""],
        ["", ""],
        ["Count", "n"],
        ["Share", "n"],
      ],
      rows,
      { rowHead: true },
    ),
    el(
      "p",
      { class: "small soft" },
      `As first judged, since this process began at most. A document of two classes counts for both. ${count(counts.revisions, "later verdict")} changed an earlier one.`,
    ),
  ];
}

function store({ memory, tables, held, journal, streams, version, role, state, mode, store, lag }) {
  const sizes = Object.entries(memory.tables).sort((a, b) => b[1] - a[1]);
  const largest = Math.max(...sizes.map(([, size]) => size), 1);
  const behind = (lag?.partitions ?? []).map(({ topic, partition, next, end }) => [
    `${topic}/${partition}`,
    number(next),
    number(end),
    number(Math.max(0, end - next)),
  ]);
  return [
    facts([
      ["Role", `${role}, ${state}${mode === "shadow" ? "; shadow: nobody acts on its verdicts" : ""}`],
      ["Store", name(store)],
      ["Journal", `entry ${number(journal.number)}, epoch ${number(journal.epoch)}`],
      [
        "Holds",
        tables &&
          `${count(tables.n_prototypes, "prototype")} in ${count(tables.n_groups, "group")}, ${count(tables.n_clusters, "cluster")}`,
      ],
      [
        "Gave way",
        tables &&
          `${number(tables.n_evicted)} for room, ${number(tables.n_expired)} by age, ${number(tables.n_over_share)} over their share`,
      ],
      ["To be asked", `${count(held.verdicts, "verdict")} (${bytes(held.verdict_bytes)}), ${count(held.clusters, "cluster")}`],
      ["Streams", `${streams.open} of ${streams.max} open`],
      ["Version", version],
    ]),
    sizes.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, "Memory by table"),
        table(
          "Memory by table",
          [
            ["Table", ""],
            ["", ""],
            ["Bytes", "n"],
          ],
          sizes.map(([title, size]) => [words(title), bar(size / largest), bytes(size)]),
          { rowHead: true },
        ),
      ),
    behind.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, "Lag by partition"),
        table(
          "Lag by partition",
          [
            ["Partition", ""],
            ["Next", "n"],
            ["End", "n"],
            ["Behind", "n"],
          ],
          behind,
          { rowHead: true },
        ),
      ),
  ];
}

export default function overview(main, { signal, announce }) {
  const pace = new Pace();
  let [last, chosen] = [null, 3];
  const top = el("div", { class: "grid even" }, loading("figures"));
  const line = card("Documents in a second");
  const shares = card("Classes", { span: "shares" });
  const inner = card("The run");
  const [graph, choice, details] = [line, shares, inner].map((part) => part.appendChild(el("div", { class: "stack" })));
  fill(
    main,
    el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Overview")),
    el(
      "div",
      { class: "stack" },
      top,
      el(
        "div",
        { class: "grid" },
        el("div", { class: "stack span-8" }, line, feed(signal, announce)),
        el("div", { class: "stack span-4" }, shares, inner),
      ),
    ),
  );

  const redraw = () => {
    const open = [...details.querySelectorAll("details")].map((part) => part.open);
    const focused = choice.contains(document.activeElement) && document.activeElement.textContent;
    fill(top, figures(last));
    fill(graph, pace.drawn());
    fill(
      choice,
      classes(last, chosen, (n) => ((chosen = n), redraw())),
    );
    fill(details, store(last));
    details.querySelectorAll("details").forEach((part, n) => (part.open = open[n] ?? false));
    if (focused) [...choice.querySelectorAll("button, a")].find((one) => one.textContent === focused)?.focus();
  };
  every(EVERY_S, signal, async () => {
    try {
      last = await get("/v1/stats", signal);
      pace.note(last);
      redraw();
    } catch (error) {
      if (error.name !== "AbortError") fill(top, trouble(error));
    }
  });
}
