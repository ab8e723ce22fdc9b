// The last verdicts, as they come: of each document the last one. However many come, a few are shown and the rest are counted.
//
// Nothing moves under somebody who is about to choose: while the list is pointed at, or holds the focus, what comes waits.

import { get } from "./api.js";
import { card, el, empty, fill, insideLine, loading, plain, trouble } from "./element.js";
import { ago, count } from "./format.js";
import { badges, labels, sorts } from "./names.js";
import { follow } from "./stream.js";

const SHOWN = 14;
/** So often the list changes, and so often it is told to those who listen, in ms. */
const DRAWN_MS = 400;
const TOLD_MS = 10_000;

const key = ({ source, revision }) => `${source.topic}/${source.partition}/${source.offset}/${revision}`;

/**
 * What is to be shown, the newest first: what came (the newest last) above what is there, each document once. What came before something
 * that is there is older than it, and would be there too if it were still to be shown.
 */
export function joined(there, came) {
  const known = new Set(there.map(key));
  const news = came.slice(came.findLastIndex((verdict) => known.has(key(verdict))) + 1).reverse();
  const seen = new Set();
  return [...news, ...there].filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, SHOWN);
}

function entry(verdict) {
  return el(
    "li",
    {},
    ago(verdict.source.time) ?? el("span", {}),
    el("span", { class: "badges" }, badges(verdict), labels(verdict.labels ?? [], 1)),
    insideLine(verdict.id, verdict.url ?? verdict.id),
  );
}

/** The card, alive until `signal`. */
export function feed(signal, announce) {
  let [isBegun, isPaused, word] = [false, false, "connecting"];
  let [arrived, nWaiting, nUntold] = [[], 0, 0];
  let verdicts = [];
  const lines = new Map();
  const list = el("ul", { class: "feed" });
  const place = el("div", {}, loading("the last verdicts"));
  const status = el("span", { class: "small soft" }, word);
  const pause = el("button", { type: "button", "aria-pressed": "false", on: { click: () => toggled() } }, "Pause");

  function toggled() {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Go on" : "Pause";
    draw();
  }

  // A finger leaves no pointer behind, and what it has touched last would be pointed at for ever.
  const isHeld = () => list.matches(":focus-within") || (matchMedia("(hover: hover)").matches && list.matches(":hover"));

  function said() {
    const since = nWaiting ? `; ${count(nWaiting, "verdict")} since` : "";
    const text = isPaused ? `paused${since}` : nWaiting && isHeld() ? `waits while you choose${since}` : word;
    if (status.textContent !== text) status.textContent = text;
  }

  function draw() {
    if (isBegun && arrived.length && !isPaused && !isHeld()) {
      const came = arrived.map((data) => JSON.parse(data));
      [arrived, nWaiting] = [[], 0];
      show(joined(verdicts, came), true);
    }
    said();
  }

  /** Lines that stay are left alone. */
  function show(wanted, isNew) {
    verdicts = wanted;
    const keys = new Set(verdicts.map(key));
    for (const [which, line] of lines) if (!keys.has(which)) (line.remove(), lines.delete(which));
    let below = null;
    for (const verdict of verdicts.toReversed()) {
      let line = lines.get(key(verdict));
      if (!line) {
        line = entry(verdict);
        line.classList.toggle("arrived", isNew);
        lines.set(key(verdict), line);
        list.insertBefore(line, below);
      }
      below = line;
    }
    if (!list.isConnected && verdicts.length) fill(place, list);
  }

  const drawing = setInterval(draw, DRAWN_MS);
  const telling = setInterval(() => {
    const [latest] = verdicts;
    if (nUntold && latest && !isPaused)
      announce(`${count(nUntold, "new verdict")}; the last: ${sorts(latest).join(", ")}, ${plain(latest.id)}`);
    nUntold = 0;
  }, TOLD_MS);
  signal.addEventListener("abort", () => (clearInterval(drawing), clearInterval(telling)));

  // The stream first: what comes while the list is fetched is in one of the two, or in both. It waits for the list, which is older.
  follow("/v1/events", signal, {
    event(data) {
      arrived.push(data);
      if (arrived.length > SHOWN) arrived.shift();
      [nWaiting, nUntold] = [nWaiting + 1, nUntold + 1];
    },
    state(now, error) {
      word = { open: "live", closed: "stopped", broken: "cut off, trying again" }[now];
      status.title = error?.message ?? "";
      said();
    },
  });
  const begin = () =>
    get(`/v1/verdicts?limit=${SHOWN}`, signal)
      .then((answer) => {
        isBegun = true;
        const waiting = "Nothing was judged yet. Send something, and it is shown here as it is judged:";
        if (!answer.verdicts.length)
          fill(place, empty(waiting, el("br"), el("code", {}, "seamripper ingest crawl.warc.gz mails/")));
        show(answer.verdicts, false);
        draw();
      })
      .catch((error) => error.name === "AbortError" || fill(place, trouble(error, begin)));
  begin();
  return card("Latest verdicts", { end: [status, pause] }, place);
}
