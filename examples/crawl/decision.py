"""Whether a crawler stores a page: what the filter says of it, and what the crawler has.

A page is left out only where nothing is lost by it: it says what a page says that is stored here. The filter's word alone is not
enough for that. It may have learnt the other page from someone else, or from this crawler in the moment before it died; so what
was stored is written down in a ledger, and a page whose original is not in it is kept.

| the filter says | and the ledger | the page is |
| --- | --- | --- |
| nothing: it is away, busy, slow | | kept |
| `mode: shadow` | | kept: it must change nothing |
| too little text, or unreadable | | kept |
| `recrawl: unchanged` | has it | left out, a reference to itself |
| a mirror, and all of it is in the other | has `mirror.canonical` | left out, a reference to that |
| a mirror that says more than the other (`that_in_this`) | | kept |
| anything else | | kept |
"""

import sqlite3
from dataclasses import dataclass

from client import Answer


@dataclass(frozen=True)
class Decision:
    """Keep a page, or leave it out and refer to `canonical`. `reason` is one word for counters, `detail` a line for people."""

    keep: bool
    reason: str
    detail: str = ""
    canonical: str | None = None


def decided(id: str, answer: Answer, kept) -> Decision:
    """What to do with a page. `kept` knows which ids are stored: anything with `in`."""
    verdict = answer.verdict
    if verdict is None:
        return Decision(True, "unknown", answer.why)
    what = _without(id, verdict, kept)
    if what.keep or answer.mode != "shadow":
        return what
    return Decision(True, "shadow", f"would be left out: {what.detail}", what.canonical)


def _without(id: str, verdict: dict, kept) -> Decision:
    if verdict["outcome"] != "judged":
        return Decision(True, verdict["outcome"], verdict.get("reason", ""))
    unchanged = verdict.get("recrawl") == "unchanged"
    if unchanged and id in kept:
        return Decision(False, "unchanged", "the text is that of last time", id)
    mirror = verdict.get("mirror")
    if mirror and mirror["canonical"] != id:
        canonical = mirror["canonical"]
        of = f"{mirror['relation']} of {canonical}, resemblance {mirror['resemblance']:.2f}"
        # One page can be part of the other; then the larger one is no copy.
        if mirror["signals"] == ["sentences"] and mirror["direction"] != "this_in_that":
            return Decision(True, "larger", of)
        if canonical not in kept:
            return Decision(True, "unstored", f"{of}, which is not stored here")
        return Decision(False, "mirror", of, canonical)
    if unchanged:
        return Decision(True, "unstored", "the text is that of last time, which is not stored here")
    return Decision(True, verdict.get("recrawl") or "new")


class Ledger:
    """The pages that are stored, by id, each with a note on where: one SQLite file, or memory."""

    def __init__(self, path: str = ":memory:"):
        self._base = sqlite3.connect(path, isolation_level=None)
        # A power cut may take the last few lines: then pages are stored twice, and none is lost.
        self._base.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 10000;"
            "CREATE TABLE IF NOT EXISTS kept (id TEXT PRIMARY KEY, note TEXT NOT NULL) WITHOUT ROWID"
        )

    def __contains__(self, id: str) -> bool:
        return self.note(id) is not None

    def note(self, id: str) -> str | None:
        found = self._base.execute("SELECT note FROM kept WHERE id = ?", (id,)).fetchone()
        return found and found[0]

    def add(self, stored: dict[str, str]) -> None:
        """Once they are stored, and not before."""
        self._base.execute("BEGIN IMMEDIATE")
        self._base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", stored.items())
        self._base.execute("COMMIT")

    def close(self) -> None:
        self._base.close()
