// A long list in the page: only the rows that are in sight, or nearly, are there. All are of one height.

import { el } from "./element.js";

/** So many rows above and below what is in sight. */
const MARGIN = 12;

export class Rows {
  /** `columns` is how many a row has, `row(n)` makes one, `more()` is called when the end comes near. */
  constructor(table, { columns, row, more, signal }) {
    Object.assign(this, { row, more, n: 0, first: 0, last: 0, wanted: false });
    const spacer = () => el("tr", { class: "spacer", "aria-hidden": "true" }, el("td", { colspan: columns }));
    [this.above, this.below] = [spacer(), spacer()];
    this.body = el("tbody", {});
    const half = (child) => el("tbody", { role: "presentation" }, child);
    table.append(half(this.above), this.body, half(this.below));
    const look = () => {
      if (this.wanted) return;
      this.wanted = true;
      requestAnimationFrame(() => {
        this.wanted = false;
        if (!signal.aborted) this.draw();
      });
    };
    addEventListener("scroll", look, { signal, passive: true });
    addEventListener("resize", () => ((this.first = this.last = 0), look()), { signal });
  }

  /** There are so many now; with `anew` they are others. */
  set(n, anew) {
    this.n = n;
    if (anew) this.clear();
    this.draw();
  }

  clear() {
    [this.first, this.last] = [0, 0];
    this.body.replaceChildren();
  }

  /** What CSS says. */
  height() {
    return matchMedia("(max-width: 40rem)").matches ? 76 : 44;
  }

  draw() {
    const height = this.height();
    const top = -this.above.parentElement.getBoundingClientRect().top;
    const first = Math.max(0, Math.min(this.n, Math.floor(top / height) - MARGIN));
    const last = Math.min(this.n, Math.ceil((top + innerHeight) / height) + MARGIN);
    if (first >= this.last || last <= this.first) this.clear();
    if (this.first === this.last) this.first = this.last = first;
    // Rows that stay are left alone, and whatever has the focus with them.
    while (this.first < first) this.first += this.drop("firstElementChild");
    while (this.last > last) this.last -= this.drop("lastElementChild");
    while (this.first > first) this.body.prepend(this.made((this.first -= 1)));
    while (this.last < last) this.body.append(this.made((this.last += 1) - 1));
    this.above.firstElementChild.style.height = `${first * height}px`;
    this.below.firstElementChild.style.height = `${(this.n - last) * height}px`;
    this.above.hidden = first === 0;
    this.below.hidden = this.n === last;
    if (last >= this.n - 4 * MARGIN) this.more();
  }

  drop(end) {
    this.body[end]?.remove();
    return 1;
  }

  made(n) {
    const row = this.row(n);
    row.setAttribute("aria-rowindex", n + 2);
    return row;
  }
}
