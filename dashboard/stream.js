// Verdicts as they come: server-sent events, read by fetch, since EventSource cannot send a token.
//
// A stream that breaks goes on after its last event. It is closed while the page is out of sight: browsers keep few connections
// to one server, and a forgotten tab should not hold one.

import { request } from "./api.js";

const PAUSE_S = [1, 2, 5, 10, 30];

/** Calls `event(data)` for each verdict, as it was written, and `state("open" | "closed" | "broken", error)`. */
export function follow(path, signal, { event, state }) {
  let last = null;
  let current = null;
  let failures = 0;
  let timer = null;

  async function open() {
    clearTimeout(timer);
    if (signal.aborted || document.hidden || current) return;
    const mine = (current = new AbortController());
    try {
      const response = await request(path, { headers: last ? { "last-event-id": last } : {}, signal: mine.signal });
      state("open");
      failures = 0;
      await read(response.body, (id, name, data) => {
        last = id ?? last;
        if (name === "verdict") event(data);
      });
      throw new Error("The stream has ended.");
    } catch (error) {
      if (current === mine) current = null;
      if (mine.signal.aborted) return;
      // That place is not there any more: from the end on, then.
      if (error.status === 410 || error.status === 400) last = null;
      state("broken", error);
      timer = setTimeout(open, PAUSE_S[Math.min(failures++, PAUSE_S.length - 1)] * 1000);
    }
  }

  function close() {
    clearTimeout(timer);
    current?.abort();
    current = null;
    state("closed");
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()), { signal });
  signal.addEventListener("abort", close);
  open();
}

/** The events of a body. Lines are cut here; what an event is made of is in the standard of server-sent events. */
async function read(body, event) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let [rest, id, name, data] = ["", null, "message", []];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (id !== null || data.length) event(id, data.length ? name : "nothing", data.join("\n"));
        [id, name, data] = [null, "message", []];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "id") id = text;
      else if (field === "event") name = text;
      else if (field === "data") data.push(text);
    }
  }
}
