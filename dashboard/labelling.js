// What people say of a document, a cluster or a domain: put on, taken back, and who said what before.

import { get, send } from "./api.js";
import { dialog } from "./dialog.js";
import { card, el, fill, inside, loading, name, plain, table, toCluster, toVerdict, trouble } from "./element.js";
import { ago } from "./format.js";
import { label } from "./names.js";

const BY = "seamripper-by";
const SECONDS = 20;

/** Says something for a while, with something that can be done about it: longer, while somebody is about to. */
export function toast(text, action, act) {
  const line = el("div", { class: "toast" }, el("span", {}, text));
  const isHeld = () => line.matches(":hover, :focus-within");
  let timer = setTimeout(ended, SECONDS * 1000);
  function ended() {
    if (isHeld()) timer = setTimeout(ended, 1000);
    else line.remove();
  }
  if (action)
    line.append(el("button", { type: "button", on: { click: () => (clearTimeout(timer), line.remove(), act()) } }, action));
  document.getElementById("toasts").replaceChildren(line);
}

const asWord = (target) => Object.entries(target).map(([sort, id]) => `${sort}:${id}`)[0];
/** What it is about, as a link to where that is shown. */
function asLink(target) {
  const [[sort, id]] = Object.entries(target);
  const shownAt = {
    document: toVerdict(id),
    cluster: toCluster(id),
    domain: `#/verdicts?${new URLSearchParams({ domain: id })}`,
  };
  return [`${sort} `, inside(shownAt[sort], name(id))];
}

/** Who speaks: asked for in each form, and remembered for this tab. */
const author = () => sessionStorage.getItem(BY) ?? "dashboard";

async function put(target, word, why, done) {
  const body = { target, label: word, by: author(), ...(why && { why }) };
  await send("POST", "/v1/labels", body);
  toast(`Labelled ${plain(word)}. Later copies carry it.`, "Undo", () => takeBack({ target, label: word, by: author() }, done));
  await done();
}

/** Takes a label back, one's own or, if that is wanted, that of others. */
export async function takeBack(said, done) {
  const { target, label: word, by } = said;
  try {
    const everyone = by !== author();
    const others = () =>
      dialog("It was said by somebody else", el("p", {}, name(by), " has said so. Take it back all the same?"), {
        yes: "Take it back",
      });
    if (everyone && !(await others())) return;
    await send("DELETE", "/v1/labels", { target, label: word, by: author(), everyone });
    toast(`Took back ${plain(word)}.`, "Put it on again", () => put(target, word, said.why ?? "", done).catch(failed));
  } catch (error) {
    failed(error);
  }
  await done();
}

function failed(error) {
  toast(error.status === 401 ? "Nothing was written: that needs the token." : plain(error.message));
}

/** A row of a list of labels. Where there is no room for a column, who said so stands below what it is about. */
export const saidRow = (said, done) => [
  label({ label: said.label }),
  [asLink(said.target), el("div", { class: "small soft narrow" }, name(said.by), said.why && [": ", name(said.why)])],
  [name(said.by), said.why && el("div", { class: "small soft" }, name(said.why))],
  ago(said.time ?? said.at),
  el("button", { type: "button", "aria-label": `Undo ${plain(said.label)}`, on: { click: () => takeBack(said, done) } }, "Undo"),
];

/** The card for a document or a cluster. `targets` is a list of [title, target], the first of which is asked about. */
export function labelling(targets, signal, announce) {
  const state = el("div", {}, loading("labels"));
  const why = el("input", { id: "why", autocomplete: "off", maxlength: 1024, placeholder: "for whoever asks later" });
  const by = el("input", { id: "by", autocomplete: "off", maxlength: 256, required: true, value: author() });
  const own = el("input", {
    id: "own",
    autocomplete: "off",
    maxlength: 64,
    placeholder: "other",
    "aria-label": "Another label",
  });
  const on = el(
    "select",
    { id: "on" },
    targets.map(([title], n) => el("option", { value: n }, title)),
  );
  const word = (text, kind) =>
    el("button", { type: "button", class: kind, on: { click: () => say(text) } }, text === "spam" ? "Spam" : "Allow");
  const form = el(
    "form",
    { class: "stack" },
    targets.length > 1 && el("div", { class: "field" }, el("label", { for: "on" }, "Of what"), on),
    el(
      "div",
      { class: "halves" },
      el("div", { class: "field" }, el("label", { for: "why" }, "Why"), why),
      el("div", { class: "field" }, el("label", { for: "by" }, "Who says so"), by),
    ),
    el(
      "div",
      { class: "row" },
      word("spam"),
      word("allow"),
      el("span", { class: "own" }, own, el("button", { type: "submit" }, "Label")),
    ),
  );
  form.addEventListener("submit", (event) => (event.preventDefault(), own.value.trim() && say(own.value.trim())));

  async function say(text) {
    sessionStorage.setItem(BY, by.value.trim() || "dashboard");
    const buttons = form.querySelectorAll("button");
    const focused = document.activeElement;
    buttons.forEach((button) => (button.disabled = true));
    try {
      await put(targets[Number(on.value) || 0][1], text, why.value.trim(), draw);
      [own.value, why.value] = ["", ""];
      announce(`Labelled ${text}`);
    } catch (error) {
      failed(error);
    }
    buttons.forEach((button) => (button.disabled = false));
    focused?.focus();
  }

  async function draw() {
    if (signal.aborted) return;
    try {
      const answers = await Promise.all(
        targets.map(([, target]) => get(`/v1/labels?${new URLSearchParams({ target: asWord(target) })}`, signal)),
      );
      const unique = (list) => [...new Map(list.map((said) => [JSON.stringify(said), said])).values()];
      fill(state, told(unique(answers.flatMap(({ labels }) => labels)), unique(answers.flatMap(({ history }) => history)), draw));
    } catch (error) {
      if (error.name !== "AbortError") fill(state, trouble(error, draw));
    }
  }
  draw();
  return card(
    "Labels",
    {},
    el(
      "div",
      { class: "stack" },
      state,
      form,
      el(
        "p",
        { class: "small soft" },
        "It is carried by what comes later: copies of a document, members of a cluster, all of a domain. ",
        el("code", {}, "allow"),
        " outweighs all others.",
      ),
    ),
  );
}

function told(inForce, history, draw) {
  const lines = inForce.map((said) =>
    el(
      "li",
      { class: "row" },
      label({ label: said.label }),
      el("span", { class: "small soft" }, name(said.by), said.why && [": ", name(said.why)], " · ", ago(said.time ?? said.at)),
      el(
        "button",
        { type: "button", class: "plain", "aria-label": `Undo ${plain(said.label)}`, on: { click: () => takeBack(said, draw) } },
        "Undo",
      ),
    ),
  );
  const rows = [...history]
    .reverse()
    .map((said) => [
      ago(said.time ?? said.at),
      [said.undo ? "took back " : "", label({ label: said.label })],
      [name(said.undone_by ?? said.by), said.why && el("div", { class: "small soft" }, name(said.why))],
    ]);
  return [
    lines.length
      ? el("ul", { class: "stack plain-list", "aria-label": "Labels in force" }, lines)
      : el("p", { class: "soft small" }, "No label is in force."),
    rows.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, `History (${rows.length})`),
        table(
          "What was said before",
          [
            ["When", ""],
            ["What", ""],
            ["Who", ""],
          ],
          rows,
        ),
      ),
  ];
}
