// A question that wants an answer before anything else goes on.

import { el } from "./element.js";

/** Whether it was answered with yes. What has the focus first is `first`, or the button that says no. */
export function dialog(title, content, { yes, first }) {
  const no = el("button", { type: "button" }, "Cancel");
  const buttons = el("div", { class: "row" }, no, el("button", { class: "main", type: "submit" }, yes));
  const form = el("form", {}, el("h2", { id: "dialog-title" }, title), content, buttons);
  const box = el("dialog", { "aria-labelledby": "dialog-title" }, form);
  document.body.append(box);
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      box.close("yes");
    });
    no.addEventListener("click", () => box.close());
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue === "yes");
    });
    box.showModal();
    (first ?? no).focus();
  });
}
