// Small drawings: a line over time, and bars beside their numbers.

import { el } from "./element.js";

/** A bar that is filled to a share, and where there is one a mark at another. */
export function bar(value, kind = "", mark = null) {
  const clamped = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;
  const filled = el("i", {});
  filled.style.width = value > 0 ? clamped(value) : "0";
  if (!(value > 0)) filled.style.minWidth = "0";
  const marked = mark === null ? null : el("b", {});
  if (marked) marked.style.left = `min(${clamped(mark)}, calc(100% - 2px))`;
  return el("span", { class: `bar ${kind}`, "aria-hidden": "true" }, filled, marked);
}

const WIDTH = 600;
const HEIGHT = 100;

/**
 * Lines over a common axis. Each of `lines` is a list of {x, y} in ascending x, and the first has its area filled; the words say what is
 * to be seen there to those who do not see it.
 */
export function chart(lines, { from, to, top, words, steps = false }) {
  const x = (value) => ((value - from) / Math.max(1e-9, to - from)) * WIDTH;
  const y = (value) => HEIGHT - (value / Math.max(1e-9, top)) * HEIGHT;
  const path = (points) =>
    points
      .map((point, n) => {
        const [px, py] = [x(point.x).toFixed(1), y(point.y).toFixed(1)];
        if (n === 0) return `M${px} ${py}`;
        return steps ? `H${px}V${py}` : `L${px} ${py}`;
      })
      .join("");
  const [first, ...others] = lines;
  const rules = [0, 0.5, 1].map((share) =>
    el("line", { class: "rule", x1: 0, x2: WIDTH, y1: HEIGHT * share, y2: HEIGHT * share }),
  );
  const area = first.length > 1 && `${path(first)}V${HEIGHT}H${x(first[0].x).toFixed(1)}Z`;
  return el(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
    rules,
    area && el("path", { class: "area", d: area }),
    first.length > 1 && el("path", { class: "line", d: path(first) }),
    others.filter((points) => points.length > 1).map((points) => el("path", { class: "second", d: path(points) })),
  );
}

/** A round number from which on nothing is higher. */
export function ceiling(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}
