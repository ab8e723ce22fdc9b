// The token, asked for when something needs it. It is kept for this tab and until it is closed, nowhere else.

import { dialog } from "./dialog.js";
import { el } from "./element.js";

const KEY = "seamripper-token";
let asking = null;

export const token = () => sessionStorage.getItem(KEY);
export const forget = () => sessionStorage.removeItem(KEY);

/** Asks for the token; null if there is none to be had. Who asks meanwhile gets the same answer. */
export function ask(wasWrong) {
  asking ??= asked(wasWrong).finally(() => (asking = null));
  return asking;
}

async function asked(wasWrong) {
  const input = el("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    required: true,
    "aria-describedby": "token-why",
  });
  const why = el(
    "p",
    { id: "token-why" },
    wasWrong ? el("strong", {}, "That was not the token. ") : null,
    "It stands in ",
    el("code", {}, "http.token_file"),
    ", which is ",
    el("code", {}, "seamripper-data/http-token"),
    " where nothing else is configured. It is kept in this tab until you close it, and sent to this server only.",
  );
  const field = el("div", { class: "field" }, el("label", { for: "token" }, "Token"), input);
  if (!(await dialog("This needs the token", [why, field], { yes: "Go on", first: input }))) return null;
  sessionStorage.setItem(KEY, input.value.trim());
  return token();
}
