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

  // What cannot be seen is told by its number; what writing needs is not.
  for (const [text, expected] of [
    ["pay\u200dpal", "pay[U+200D]pal"],
    ["a\u200bb\u2060c\ufeffd", "a[U+200B]b[U+2060]c[U+FEFF]d"],
    ["safe\u202egpj.exe", "safe[U+202E]gpj.exe"],
    ["tag\u{e0041}\u{e007f}", "tag[U+E0041][U+E007F]"],
    ["x\ufe0f\u{e0100}", "x[U+FE0F][U+E0100]"],
    ["\u3164\u115f\u034f\u2800\u00ad", "[U+3164][U+115F][U+034F][U+2800][U+00AD]"],
    ["a\tb\nc\u0007\u0085", "a[U+0009]b[U+000A]c[U+0007][U+0085]"],
    // Of many that choose a form, the first does.
    ["\u{1f600}\ufe0f\ufe0f\u{e0101}", "\u{1f600}\ufe0f[U+FE0F][U+E0101]"],
    ..."👩‍👧 ❤️ 1️⃣ 🏳️‍🌈 👩🏽‍🚀 می‌خواهم क्‍ष 葛\u{e0100} ᠠ᠋".split(" ").map((text) => [text, text]),
  ])
    assert.equal(await called("element", "plain", text), expected, JSON.stringify(text));

  // A long name in two parts is the same name, and no letter is cut into pieces.
  for (const text of ["short", "a".repeat(33), "👩‍👧".repeat(20), "é".normalize("NFD").repeat(40), "字".repeat(50)]) {
    const parts = await page.evaluate(async (text) => {
      const { cut, el } = await import("/dashboard/element.js");
      return [...el("p", {}, cut(text)).children].map((part) => part.textContent);
    }, text);
    assert.equal(parts.join(""), text);
    assert.equal(parts.length, text === "short" ? 1 : 2);
    const letters = (text) => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
    assert.deepEqual(parts.flatMap(letters), letters(text));
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
