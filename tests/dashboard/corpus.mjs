// The bundled corpus: what is in it, and what is true of it.

import { readFileSync } from "node:fs";

const read = (file) =>
  readFileSync(new URL(`../../demo/corpus/${file}`, import.meta.url), "utf8")
    .trim()
    .split("\n");

export const pages = () => read("pages.jsonl").map((line) => JSON.parse(line));

/** Rows {place, id, kind, of, frame, note}. */
export function truth() {
  const [head, ...rows] = read("truth.tsv").map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(row.map((value, n) => [head[n], value])));
}

export const idOf = (page) => page.id ?? page.url;
