// The dashboard: which page is shown, and what all pages share.
//
// The address behind # says which: #/, #/verdicts?…, #/verdict/ID, #/clusters?…, #/cluster/ID, #/labels. Each page gets a signal that
// ends all that it has begun.

import { every } from "./api.js";
import cluster from "./cluster.js";
import clusters from "./clusters.js";
import { el, empty, fill, plain, trouble } from "./element.js";
import labels from "./labels.js";
import { words } from "./names.js";
import overview from "./overview.js";
import verdict from "./verdict.js";
import verdicts from "./verdicts.js";

const PAGES = {
  "": ["Overview", overview, "#/"],
  verdicts: ["Verdicts", verdicts, "#/verdicts"],
  verdict: ["Verdict", verdict, "#/verdicts"],
  clusters: ["Clusters", clusters, "#/clusters"],
  cluster: ["Cluster", cluster, "#/clusters"],
  labels: ["Labels", labels, "#/labels"],
};

const main = document.getElementById("main");
const announcer = document.getElementById("announcer");
let ending = null;

const announce = (text) => {
  announcer.textContent = text;
};

/** The page that the address names. */
function asked() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const slash = path.indexOf("/");
  const [page, rest] = slash < 0 ? [path, ""] : [path.slice(0, slash), path.slice(slash + 1)];
  const query = new URLSearchParams(search);
  try {
    return { page, id: decodeURIComponent(rest), query };
  } catch {
    return { page: "none", id: rest, query };
  }
}

async function show(isFirst) {
  ending?.abort();
  ending = new AbortController();
  const { page, id, query } = asked();
  const [title, shown, nav] = Object.hasOwn(PAGES, page) ? PAGES[page] : ["Not found", nowhere, ""];
  document.title = `${id ? `${plain(id)} · ` : ""}${title} · Seamripper`;
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.getAttribute("href") === nav) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const replace = (hash) => history.replaceState(null, "", hash);
  try {
    const done = shown(main, { signal: ending.signal, id, query, announce, replace });
    if (!isFirst) {
      scrollTo(0, 0);
      main.querySelector("h1")?.focus({ preventScroll: true });
    }
    await done;
  } catch (error) {
    if (error.name !== "AbortError")
      fill(
        main,
        el("h1", { tabindex: -1 }, title),
        trouble(error, () => show(false)),
      );
  }
}

function nowhere(place) {
  fill(place, el("h1", { tabindex: -1 }, "Not found"), empty("There is no such page. ", el("a", { href: "#/" }, "Overview")));
}

/** At the top of every page: whether the server is there, and what it is doing. It needs no token. */
async function ready() {
  const state = document.getElementById("state");
  const tell = (kind, text) => fill(state, el("span", { class: `dot ${kind}` }), text);
  try {
    const answer = await (await fetch("/readyz", { signal: AbortSignal.timeout(4000) })).json();
    tell(answer.ready ? "good" : "warn", words(answer.state));
  } catch {
    tell("bad", "not reachable");
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => show(false));
every(5, new AbortController().signal, ready);
show(true);
