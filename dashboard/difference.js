// What two texts do not have in common, word by word, with bounded work.
//
// The common beginning and end are set aside, and what is left is compared as Myers did (1986). Past the bounds there is no answer:
// the texts are then shown as they are.

/** Words of one text, and words that are only in one of them. */
const WORDS_MAX = 30_000;
const EDITS_MAX = 1_200;

/** Words with the space behind them; of scripts without spaces, single characters. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+\s*|\s+/gu;

/** Two lists of {text, isOnly}, or null where it would be too much work. */
export function difference(here, there) {
  const [a, b] = [here.match(WORD) ?? [], there.match(WORD) ?? []];
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) return null;
  const same = (i, j) => a[i].trimEnd() === b[j].trimEnd();
  let begin = 0;
  while (begin < a.length && begin < b.length && same(begin, begin)) begin += 1;
  let [aEnd, bEnd] = [a.length, b.length];
  while (aEnd > begin && bEnd > begin && same(aEnd - 1, bEnd - 1)) [aEnd, bEnd] = [aEnd - 1, bEnd - 1];
  const common = shortest(aEnd - begin, bEnd - begin, (i, j) => same(begin + i, begin + j));
  if (!common) return null;
  const only = (words, end, side) => {
    const both = new Set(common.map((pair) => pair[side] + begin));
    return joined(words.map((text, n) => ({ text, isOnly: n >= begin && n < end && !both.has(n) })));
  };
  return [only(a, aEnd, 0), only(b, bEnd, 1)];
}

function joined(words) {
  const runs = [];
  for (const { text, isOnly } of words) {
    if (runs.at(-1)?.isOnly === isOnly) runs.at(-1).text += text;
    else runs.push({ text, isOnly });
  }
  return runs;
}

/** The pairs of places that a shortest script of edits leaves alone; null where it is too long. */
function shortest(n, m, same) {
  const edits = Math.min(n + m, EDITS_MAX);
  const furthest = new Int32Array(2 * edits + 3);
  const trace = [];
  const middle = edits + 1;
  for (let d = 0; d <= edits; d += 1) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[middle + k - 1] < furthest[middle + k + 1]);
      let x = down ? furthest[middle + k + 1] : furthest[middle + k - 1] + 1;
      while (x < n && x - k < m && same(x, x - k)) x += 1;
      furthest[middle + k] = x;
      if (k === n - m && x >= n) return walked(trace, d, n, m);
    }
  }
  return null;
}

function walked(trace, d, n, m) {
  const pairs = [];
  let [x, y] = [n, m];
  for (; d >= 0; d -= 1) {
    // The row of step d holds diagonals -d-1 to d+1.
    const at = (k) => trace[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const before = down ? k + 1 : k - 1;
    const [fromX, fromY] = d === 0 ? [0, 0] : [at(before), at(before) - before];
    while (x > fromX && y > fromY) {
      [x, y] = [x - 1, y - 1];
      pairs.push([x, y]);
    }
    [x, y] = [fromX, fromY];
  }
  return pairs;
}
