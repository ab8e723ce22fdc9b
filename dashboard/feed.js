// The last verdicts, as they come. However many come, a few are shown and the rest are counted.

import { get } from "./api.js";
import { card, el, empty, fill, inside, loading, name, plain, toVerdict, trouble } from "./element.js";
import { ago, count } from "./format.js";
import { badges, label, sorts } from "./names.js";
import { follow } from "./stream.js";

const SHOWN = 14;
/** So often the list changes, and so often it is told to those who listen, in ms. */
const DRAWN_MS = 400;
const TOLD_MS = 10_000;

export const key = ({ source, revision }) => `${source.topic}/${source.partition}/${source.offset}/${revision}`;

export function entry(verdict) {
  const line = el(
    "li",
    {},
    ago(verdict.source.time) ?? el("span", {}),
    el("span", { class: "badges" }, badges(verdict), (verdict.labels ?? []).slice(0, 2).map(label)),
    inside(toVerdict(verdict.id), name(verdict.url ?? verdict.id), { title: plain(verdict.id) }),
  );
  return line;
}

/** The card, alive until `signal`. */
export function feed(signal, announce) {
  let isPaused = false;
  let [arrived, nWaiting, nUntold] = [[], 0, 0];
  const shown = new Set();
  const list = el("ul", { class: "feed" });
  const place = el("div", {}, loading("the last verdicts"));
  const status = el("span", { class: "small soft" }, "connecting");
  const pause = el("button", { type: "button", "aria-pressed": "false", on: { click: () => toggled() } }, "Pause");

  function toggled() {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Go on" : "Pause";
    said();
    draw();
  }

  function said() {
    if (isPaused) status.textContent = nWaiting ? `paused; ${count(nWaiting, "verdict")} since` : "paused";
  }

  function draw() {
    if (isPaused || !arrived.length) return said();
    const verdicts = arrived
      .map((data) => (typeof data === "string" ? JSON.parse(data) : data))
      .filter((verdict) => !shown.has(key(verdict)));
    [arrived, nWaiting] = [[], 0];
    for (const verdict of verdicts) {
      shown.add(key(verdict));
      const line = entry(verdict);
      line.dataset.key = key(verdict);
      line.classList.add("arrived");
      list.prepend(line);
      latest = verdict;
    }
    while (list.children.length > SHOWN) {
      shown.delete(list.lastElementChild.dataset.key);
      list.lastElementChild.remove();
    }
    if (!list.isConnected && list.children.length) fill(place, list);
  }

  let latest = null;
  const drawing = setInterval(draw, DRAWN_MS);
  const telling = setInterval(() => {
    if (nUntold && latest && !isPaused)
      announce(`${count(nUntold, "new verdict")}; the last: ${sorts(latest).join(", ")}, ${plain(latest.id)}`);
    nUntold = 0;
  }, TOLD_MS);
  signal.addEventListener("abort", () => (clearInterval(drawing), clearInterval(telling)));

  // The stream first: what comes while the list is fetched is in one of the two, or in both.
  follow("/v1/events", signal, {
    event(data) {
      arrived.push(data);
      if (arrived.length > SHOWN) arrived.shift();
      [nWaiting, nUntold] = [nWaiting + 1, nUntold + 1];
    },
    state(word, error) {
      if (isPaused) return;
      status.textContent = { open: "live", closed: "stopped", broken: "cut off, trying again" }[word];
      status.title = error?.message ?? "";
    },
  });
  const begin = () =>
    get(`/v1/verdicts?limit=${SHOWN}`, signal)
      .then(({ verdicts }) => {
        arrived = [...verdicts.reverse(), ...arrived];
        const waiting = "Nothing was judged yet. Send something, and it is shown here as it is judged:";
        if (!arrived.length) fill(place, empty(waiting, el("br"), el("code", {}, "seamripper ingest crawl.warc.gz mails/")));
        draw();
        list.querySelectorAll(".arrived").forEach((line) => line.classList.remove("arrived"));
      })
      .catch((error) => error.name === "AbortError" || fill(place, trouble(error, begin)));
  begin();
  return card("Latest verdicts", { end: [status, pause] }, place);
}
