"""Copies a crawl without what the filter has: mirrors and unchanged pages become references.

    python -m crawl.warc crawl.warc.gz --into kept
    python -m crawl.warc monday.warc.gz tuesday.warc.gz --into kept > decisions.jsonl

Every page (a response of 200 with HTML or text) goes to a running filter (`POST /v1/check?learn=true`). What is kept is copied byte
for byte into kept/NNNNN.warc.gz. What is not becomes a `revisit` record that names the stored page
(WARC-Refers-To-Target-URI, WARC-Refers-To-Date), with a profile of its own: it is a near copy, and not the same bytes. All other
records are copied. kept/ledger.sqlite knows what is stored, so that a later crawl into the same folder goes on from there.

Never loses a page: with the filter away, or where it cannot be asked, the page is kept. One line of JSON per page on stdout,
counts on stderr.
"""

import argparse
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from client import Answer, Filter, NoFilter, page
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException
from warcio.warcwriter import WARCWriter

from .decision import Decision, Ledger, decided

#: Pages that are asked about together, and the bytes that may be held for it.
WINDOW, WINDOW_BYTES = 64, 64 << 20
#: A larger page is kept unasked.
PAGE_BYTES_MAX = 8 << 20
#: A larger record is no page, and does not stay in memory.
RECORD_BYTES_MAX = 32 << 20
#: The profiles of our revisit records, by reason.
PROFILE = "urn:seamripper:revisit:{}"
PAGES = ("text/html", "application/xhtml+xml", "text/plain")


@dataclass
class Page:
    """A page in memory, with the record that brought it."""

    head: object
    block: bytes
    envelope: dict
    answer: Answer | None = None

    @property
    def url(self) -> str:
        return self.head.get_header("WARC-Target-URI")

    @property
    def date(self) -> str:
        return self.head.get_header("WARC-Date") or ""


class Unasked(Exception):
    """A page that cannot be shown to the filter, and why."""


def body(head, block: bytes) -> tuple[bytes, str] | None:
    """The page of a response and its content type; None if it is no page."""
    stream = io.BytesIO(block)
    try:
        http = StatusAndHeadersParser(["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0"]).parse(stream)
    except (StatusAndHeadersParserException, EOFError) as error:
        raise Unasked("no HTTP response") from error
    kind = http.get_header("Content-Type") or ""
    if http.get_statuscode() != "200" or kind.partition(";")[0].strip().lower() not in PAGES:
        return None
    unpacked, pieces, size = ArcWarcRecord("warc", "response", head, stream, http, None, len(block)).content_stream(), [], 0
    try:
        while piece := unpacked.read(1 << 16):
            pieces.append(piece)
            size += len(piece)
            if size > PAGE_BYTES_MAX:
                raise Unasked(f"has more than {PAGE_BYTES_MAX} bytes")
    except Unasked:
        raise
    except Exception as error:  # whatever a decoder makes of a damaged encoding
        raise Unasked(f"cannot be unpacked: {error}") from error
    return b"".join(pieces), kind


class Copy:
    """The crawl without what is known, in a folder."""

    def __init__(self, folder: Path, filter: Filter, threads: int, say):
        folder.mkdir(parents=True, exist_ok=True)
        self.ledger, self.stored = Ledger(str(folder / "ledger.sqlite")), {}
        taken = [int(path.name[:5]) for path in folder.glob("[0-9][0-9][0-9][0-9][0-9].warc.gz*")]
        self.path = folder / f"{max(taken, default=0) + 1:05}.warc.gz"
        # The name says that it is being written; what a crash leaves is good up to its last whole record.
        self.file = open(f"{self.path}.open", "xb")
        self.writer = WARCWriter(self.file, gzip=True)
        self.filter, self.pool, self.say = filter, ThreadPoolExecutor(threads), say
        self.window, self.n_bytes, self.counts = [], 0, Counter()

    def __contains__(self, url: str) -> bool:
        return url in self.stored or url in self.ledger

    def take(self, record) -> None:
        """A record of the crawl, in its order but for the pages of a window."""
        head, length = record.rec_headers, record.rec_headers.get_header("Content-Length") or ""
        if not length.isdigit():
            raise ArchiveLoadFailed("a record ends in its head")
        length, url = int(length), head.get_header("WARC-Target-URI")
        with tempfile.SpooledTemporaryFile(RECORD_BYTES_MAX) as block:
            shutil.copyfileobj(record.raw_stream, block)
            if block.tell() != length:
                raise ArchiveLoadFailed(f"a record of {length} bytes ends after {block.tell()}")
            block.seek(0)
            try:
                if record.rec_type == "response" and url and length <= RECORD_BYTES_MAX:
                    whole = block.read()
                    block.seek(0)
                    if found := body(head, whole):
                        facts = {"ip": head.get_header("WARC-IP-Address"), "fetched_at": head.get_header("WARC-Date")}
                        self.hold(Page(head, whole, page(url, *found, **facts)), len(whole) + len(found[0]))
                        return
            except Unasked as error:
                self.tell(url, Decision(True, "unasked", str(error)))
            self.copy(head, block)

    def hold(self, this: Page, n_bytes: int) -> None:
        self.window.append(this)
        self.n_bytes += n_bytes
        if len(self.window) >= WINDOW or self.n_bytes >= WINDOW_BYTES:
            self.settle()

    def settle(self) -> None:
        """Asks about the window, several at once. What is kept is on the disk before the ledger says so."""
        asked = self.pool.map(lambda each: self.filter.check(each.envelope, learn=True), self.window)
        for this, answer in zip(self.window, asked):
            this.answer = answer
        # Whose original may be in this window, before it or after it, is looked at again behind the others.
        waiting = [this for this in self.window if not self.settled(this, last=False)]
        for this in waiting:
            self.settled(this, last=True)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.ledger.add(self.stored)
        self.stored, self.window, self.n_bytes = {}, [], 0

    def settled(self, this: Page, last: bool) -> bool:
        decision = decided(this.url, this.answer, self)
        if decision.reason == "unstored" and not last:
            return False
        if decision.keep:
            self.copy(this.head, io.BytesIO(this.block))
            self.stored[this.url] = this.date
        else:
            self.refer(this, decision)
        self.tell(this.url, decision)
        return True

    def copy(self, head, block) -> None:
        """A record as it came, in a member of its own."""
        with gzip.GzipFile(fileobj=self.file, mode="wb", mtime=0) as member:
            member.write(head.to_bytes(encoding="utf-8"))
            shutil.copyfileobj(block, member)
            member.write(b"\r\n\r\n")

    def refer(self, this: Page, decision: Decision) -> None:
        date = self.stored.get(decision.canonical) or self.ledger.note(decision.canonical)
        named = {
            "WARC-Profile": PROFILE.format(decision.reason),
            "WARC-Refers-To-Target-URI": decision.canonical,
            "WARC-Refers-To-Date": date,
            "WARC-Date": this.date,
            "WARC-IP-Address": this.head.get_header("WARC-IP-Address"),
        }
        named = {name: value for name, value in named.items() if value}
        self.writer.write_record(self.writer.create_warc_record(this.url, "revisit", warc_headers_dict=named))

    def tell(self, url: str, decision: Decision) -> None:
        self.counts[f"{'kept' if decision.keep else 'left out'}, {decision.reason}"] += 1
        line = {"url": url, "kept": decision.keep, "reason": decision.reason}
        self.say(line | {name: value for name in ("canonical", "detail") if (value := getattr(decision, name))})

    def close(self) -> None:
        self.settle()
        self.pool.shutdown()
        self.file.close()
        os.rename(f"{self.path}.open", self.path)
        self.ledger.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawls", type=Path, nargs="+", help="WARC files, packed or not")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER", help="where what is kept is kept")
    parser.add_argument("--filter", metavar="URL", help="http://127.0.0.1:8470, or where SEAMRIPPER_HTTP__LISTEN says")
    parser.add_argument("--token-file", metavar="FILE", help="seamripper-data/http-token, or where SEAMRIPPER_BUS__FOLDER says")
    parser.add_argument("--threads", type=int, default=8, help="pages that are asked about at once (%(default)s)")
    parser.add_argument("--wait", type=float, default=10, metavar="S", help="wait so long for the filter at the start (%(default)s)")
    options = parser.parse_args()
    filter = Filter(options.filter, options.token_file)
    try:
        filter.ready(options.wait)
    except NoFilter as error:
        print(f"warc: {error}; all pages are kept", file=sys.stderr)
    try:
        copy = Copy(options.into, filter, options.threads, lambda line: print(json.dumps(line)))
        failed = None
        for path in options.crawls:
            try:
                with open(path, "rb") as file:
                    for record in ArchiveIterator(file, no_record_parse=True):
                        copy.take(record)
            except (ArchiveLoadFailed, EOFError) as error:
                # What could be read is copied; the rest is said.
                failed = f"{path}: {error}"
                print(f"warc: {failed}", file=sys.stderr)
        copy.close()
    except OSError as error:
        print(f"warc: {error}", file=sys.stderr)
        return 1
    counts = "; ".join(f"{n} {name}" for name, n in copy.counts.most_common())
    print(f"{copy.path}: {counts or 'no pages'}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
