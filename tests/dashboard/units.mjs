// The parts that reckon: places of bytes in texts, patches, and differences between texts, beside slow and obvious ways to the same.

import assert from "node:assert/strict";
import { clean, opened, promise } from "./browser.mjs";

/** Numbers by chance, the same every time. */
function chance(seed) {
  return (n) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % n;
  };
}

await promise(async (browser) => {
  const page = await opened(browser);
  await page.goTo("");
  const called = (module, name, ...values) =>
    page.evaluate(
      async ([module, name, values]) => (await import(`/dashboard/${module}.js`))[name](...values),
      [module, name, values],
    );

  // Bytes of UTF-8, in texts with characters of one to four of them.
  const next = chance(7);
  const letters = ["a", " ", "\n", "é", "ß", "字", "‮", "😀", "👩‍👧"];
  for (let round = 0; round < 40; round += 1) {
    const characters = Array.from({ length: next(40) }, () => letters[next(letters.length)]).flatMap((text) => [...text]);
    const text = characters.join("");
    const edges = [0];
    characters.forEach((character) => edges.push(edges.at(-1) + new TextEncoder().encode(character).length));
    const offsets = edges.filter(() => next(2)).concat(Infinity);
    const places = offsets.map(
      (offset) =>
        new TextDecoder().decode(new TextEncoder().encode(text).slice(0, offset === Infinity ? undefined : offset)).length,
    );
    assert.deepEqual(
      await page.evaluate(
        async ([text, offsets]) =>
          (await import("/dashboard/text.js")).places(
            text,
            offsets.map((offset) => offset ?? Infinity),
          ),
        [text, offsets.map((offset) => (offset === Infinity ? null : offset))],
      ),
      places,
      JSON.stringify(text),
    );

    // Each byte belongs to the first source that has it; no text is lost.
    const at = () => edges[next(edges.length)];
    const sources = Array.from({ length: next(4) }, () => {
      const cuts = [...new Set(Array.from({ length: 2 * next(3) }, at))].sort((a, b) => a - b);
      return { spans: cuts.flatMap((cut, n) => (n % 2 ? [[cuts[n - 1], cut]] : [])) };
    });
    const pieces = await called("text", "pieces", text, sources);
    assert.equal(pieces.map((piece) => piece.text).join(""), text);
    let byte = 0;
    for (const piece of pieces) {
      for (const character of piece.text) {
        const owner = sources.findIndex(({ spans }) => spans.some(([begin, end]) => begin <= byte && byte < end));
        assert.equal(piece.source, owner < 0 ? null : owner, JSON.stringify({ text, sources, byte }));
        byte += new TextEncoder().encode(character).length;
      }
    }
  }

  // Words of both texts in a longest common order: as many as the table of all pairs says.
  const words = ["one ", "two ", "three\n", "字", "four "];
  for (let round = 0; round < 60; round += 1) {
    const [a, b] = [next(14), next(14)].map((n) => Array.from({ length: n }, () => words[next(words.length)]));
    const found = await called("difference", "difference", a.join(""), b.join(""));
    const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = 1; i <= a.length; i += 1)
      for (let j = 1; j <= b.length; j += 1)
        table[i][j] = a[i - 1] === b[j - 1] ? table[i - 1][j - 1] + 1 : Math.max(table[i - 1][j], table[i][j - 1]);
    const split = (text) => text.match(/字|[a-z]+\s?/g) ?? [];
    const kept = found.map((runs) => runs.filter(({ isOnly }) => !isOnly).flatMap(({ text }) => split(text)));
    assert.deepEqual(
      found.map((runs) => runs.map(({ text }) => text).join("")),
      [a.join(""), b.join("")],
    );
    assert.deepEqual(kept[0], kept[1]);
    assert.equal(kept[0].length, table[a.length][b.length], JSON.stringify([a, b]));
  }
  // What is too much work is not begun.
  const long = (word) => Array.from({ length: 5000 }, (_, n) => `${word}${n} `).join("");
  assert.equal(await called("difference", "difference", long("a"), long("b")), null);
  assert.equal(await called("difference", "difference", "a ".repeat(40_000), "a"), null);
  await clean(page);
});
