// Texts of documents: asked for once, and cut where verdicts say. Their spans are ranges of bytes in UTF-8.

import { at, get } from "./api.js";

/** The visible text of a document: {text, complete, from, n_bytes}, or {gone: why}. */
export async function textOf(id, signal) {
  try {
    return await get(at("/v1/texts", id), signal);
  } catch (error) {
    if (error.name === "AbortError" || ![403, 404, 410].includes(error.status)) throw error;
    return { gone: error.reason === "unknown_path" ? "This server gives no texts." : error.message };
  }
}

/** Where the bytes `offsets` (in ascending order) are in a text, as places in a JavaScript string. */
export function places(text, offsets) {
  const found = [];
  let [byte, place] = [0, 0];
  for (const offset of offsets) {
    while (byte < offset && place < text.length) {
      const code = text.codePointAt(place);
      byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      place += code < 0x10000 ? 1 : 2;
    }
    found.push(place);
  }
  return found;
}

/**
 * The pieces of a text: [{text, source, begin, end}], where `source` is the index of the source that has it, or null.
 * Where several have it, the first of them, which has the largest share.
 */
export function pieces(text, sources) {
  const edges = new Set([0, Infinity]);
  sources.forEach(({ spans }) => spans.forEach(([begin, end]) => edges.add(begin).add(end)));
  const bytes = [...edges].sort((a, b) => a - b);
  const starts = places(text, bytes);
  const cursors = sources.map(() => 0);
  const cut = [];
  for (let n = 0; n + 1 < bytes.length; n += 1) {
    const piece = text.slice(starts[n], starts[n + 1]);
    if (!piece) continue;
    const has = sources.findIndex(({ spans }, index) => {
      while (cursors[index] < spans.length && spans[cursors[index]][1] <= bytes[n]) cursors[index] += 1;
      const span = spans[cursors[index]];
      return span && span[0] <= bytes[n];
    });
    const source = has < 0 ? null : has;
    const last = cut.at(-1);
    // A piece that begins inside the span of one and ends inside that of another is theirs in turn; what meets is one.
    if (last && last.source === source && source === null) Object.assign(last, { text: last.text + piece, end: bytes[n + 1] });
    else cut.push({ text: piece, source, begin: bytes[n], end: bytes[n + 1] });
  }
  return cut;
}
