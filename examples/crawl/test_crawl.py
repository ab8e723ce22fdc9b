"""The crawl's promises, against a real filter. Run by `make test`; by hand, with `seamripper` on the PATH:

    PYTHONPATH=examples python -m unittest discover -s examples/crawl -t examples
"""

import csv
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

from client import Answer, Filter, page
from warcio.archiveiterator import ArchiveIterator

from . import made, warc
from .decision import Ledger, decided

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "demo/corpus/pages.jsonl"
COPIES = ("copy", "mirror", "boilerplate")


def truth():
    """By address: what kind of page it is, and the group of copies that it is in."""
    with open(PAGES.with_name("truth.tsv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["place"].startswith("pages")]
    web = lambda id: id.replace("https://", "http://", 1)  # noqa: E731
    kinds, group = {}, {}
    for row in rows:
        url = web(row["id"])
        kinds.setdefault(url, row["kind"])
        if row["kind"] in COPIES and row["of"] != "-" and row["note"] != "every tenth word changed":
            original = web(row["of"])
            group[url] = group.setdefault(original, original)
    return kinds, group


class Run:
    """A filter in a folder of its own."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAMRIPPER_")} | {
            "PYTHONPATH": str(ROOT / "examples"),
            "SEAMRIPPER_HTTP__LISTEN": address,
            "SEAMRIPPER_STORE__MEMORY": str(64 << 20),
        }
        with open(self.folder / "log", "wb") as log:
            command = ["seamripper", "run"]
            self.process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=log)
        self.filter = Filter(f"http://{address}", str(self.folder / "seamripper-data/http-token"))
        self.filter.ready(60)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def python(self, *arguments, code=0, **environment):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)], cwd=self.folder, env=self.environment | environment, capture_output=True, text=True
        )
        assert done.returncode == code, f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


def records(path):
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            yield record.rec_type, record.rec_headers, record.raw_stream.read()


class Warc(unittest.TestCase):
    def test_mirrors_become_references_and_nothing_is_lost(self):
        kinds, group = truth()
        with Run() as run:
            made.warc(PAGES, run.folder / "crawl.warc.gz")
            run.python("-m", "crawl.warc", "crawl.warc.gz", "--into", "kept")
            before = list(records(run.folder / "crawl.warc.gz"))
            after = list(records(run.folder / "kept/00001.warc.gz"))
            blocks = {(head.get_header("WARC-Target-URI"), block) for _, head, block in before}
            stored, references = Counter(), {}
            for kind, head, block in after:
                url = head.get_header("WARC-Target-URI")
                if kind == "response":
                    self.assertIn((url, block), blocks, "copied byte for byte")
                    stored[url] += 1
                else:
                    self.assertEqual(kind, "revisit")
                    references[url] = (head.get_header("WARC-Refers-To-Target-URI"), head.get_header("WARC-Profile"))
                    self.assertTrue(head.get_header("WARC-Refers-To-Date"))
            self.assertEqual(len(after), len(before), "every record is there, whole or as a reference")
            self.assertLessEqual({canonical for canonical, _ in references.values()}, set(stored), "all originals are stored")
            for url, (canonical, profile) in references.items():
                if profile.endswith(":mirror"):
                    # A day of a diary may stand in the page of its month.
                    self.assertTrue(group.get(url) == group.get(canonical) or kinds[canonical] == "month", (url, canonical))
                else:
                    self.assertEqual((profile, url), (warc.PROFILE.format("unchanged"), canonical))
            of_group = Counter(group[url] for url in stored if url in group)
            self.assertEqual(set(of_group), set(group.values()))
            self.assertEqual(set(of_group.values()), {1}, "one of each group is stored")
            for url, kind in kinds.items():
                self.assertTrue(url in stored or url in group or kind == "day", (kind, url))

            # The same crawl again: what was judged has not changed, and nothing of it is stored twice.
            told = run.python("-m", "crawl.warc", "crawl.warc.gz", "--into", "kept").stdout
            again = [json.loads(line) for line in told.splitlines()]
            versions = Counter(url for url, _ in made.pages(PAGES))
            for line in again:
                single = versions[line["url"]] == 1
                self.assertTrue(not line["kept"] or line["reason"] in ("insufficient", "larger") or not single, line)
            self.assertGreater(sum(line["reason"] == "unchanged" for line in again), 200)

    def test_without_a_filter_all_is_kept(self):
        with Run() as run:
            made.warc(PAGES, run.folder / "crawl.warc.gz")
            run.process.kill()
            run.process.wait()
            done = run.python("-m", "crawl.warc", "crawl.warc.gz", "--into", "kept", "--wait", "0")
            self.assertIn("all pages are kept", done.stderr)
            self.assertEqual({json.loads(line)["reason"] for line in done.stdout.splitlines()}, {"unknown"})
            whole = [(kind, head.to_str(), block) for kind, head, block in records(run.folder / "crawl.warc.gz")]
            self.assertEqual([(kind, head.to_str(), block) for kind, head, block in records(run.folder / "kept/00001.warc.gz")], whole)

    def test_a_damaged_crawl_is_copied_as_far_as_it_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            made.warc(PAGES, folder / "crawl.warc.gz")
            plain = gzip.decompress((folder / "crawl.warc.gz").read_bytes())
            # Inside of a head, and inside of a page.
            head = plain.index(b"WARC/1.0", len(plain) // 2)
            (folder / "cut.warc").write_bytes(plain[: head + 50])
            (folder / "torn.warc").write_bytes(plain[: head + 1500])
            command = [sys.executable, "-m", "crawl.warc", "cut.warc", "torn.warc", "--into", "kept", "--wait", "0", "--filter", "http://127.0.0.1:9"]
            environment = os.environ | {"PYTHONPATH": str(ROOT / "examples")}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, "cut.warc: .*head(?s:.*)torn.warc: .*bytes ends after")
            whole = plain[:head].count(b"WARC/1.0\r\n")
            self.assertEqual(len(list(records(folder / "kept/00001.warc.gz"))), 2 * whole)


class Scrapy(unittest.TestCase):
    def crawl(self, run, day, n):
        """A crawl through a proxy on this machine: the items that were stored, and the log."""
        web = made.server(PAGES, 0, day)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        proxy = f"http://127.0.0.1:{web.server_address[1]}"
        spider = ROOT / "examples/crawl/spider.py"
        arguments = ("-m", "scrapy", "runspider", spider, "-a", f"start={made.START}", "-O", f"pages-{n}.jsonl")
        try:
            done = run.python(*arguments, http_proxy=proxy, https_proxy=proxy)
        finally:
            web.shutdown()
            web.server_close()
        with open(run.folder / f"pages-{n}.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file], done.stderr

    def test_a_crawl_stores_one_of_each_and_a_recrawl_what_has_changed(self):
        kinds, group = truth()
        web = dict(made.pages(PAGES))
        with Run() as run:
            items, log = self.crawl(run, 1, 1)
            stored = Counter(item["url"] for item in items)
            self.assertEqual(set(stored.values()), {1}, log)
            of_group = Counter(group[url] for url in stored if url in group)
            self.assertEqual((set(of_group), set(of_group.values())), (set(group.values()), {1}), log[-4000:])
            for url, kind in kinds.items():
                self.assertTrue(url in stored or url in group or kind == "day", (kind, url))
            self.assertRegex(log, r"Dropped: mirror: \w+ of http://")
            self.assertIn("'canonical': 'http://", log)
            self.assertNotIn("Traceback", log)

            # On the second day two pages have changed.
            items, log = self.crawl(run, 2, 2)
            first = {}
            for url, text in made.pages(PAGES):
                first.setdefault(url, text)
            changed = {url for url, text in web.items() if text != first[url] and kinds[url] == "original"}
            kept = {item["url"]: item["seamripper"] for item in items}
            for url, why in kept.items():
                if url not in changed:
                    self.assertRegex(why, "^(insufficient|larger)", url)
            self.assertTrue(changed & set(kept), (changed, kept))
            self.assertRegex(log, "'seamripper/dropped/unchanged': 2[0-9][0-9]")

            # With the filter gone the next crawl stores all of them.
            run.process.kill()
            run.process.wait()
            items, log = self.crawl(run, 1, 3)
            self.assertEqual({item["url"] for item in items}, set(web) | {made.START})
            self.assertTrue(all(item["seamripper"].startswith("unknown: the filter is away") for item in items))


class Decisions(unittest.TestCase):
    def verdict(self, **more):
        return {"outcome": "judged", "classes": []} | more

    def mirror(self, **more):
        told = {"canonical": "o", "relation": "copy", "resemblance": 0.9, "signals": ["minhash"], "direction": "equal"}
        return self.verdict(classes=["mirror"], mirror=told | more)

    def test_nothing_is_left_out_unless_its_text_is_stored(self):
        part = {"signals": ["sentences"], "relation": "archive"}
        for answer, kept, left_out, reason in (
            (Answer(why="away"), "po", False, "unknown"),
            (Answer(self.verdict()), "", False, "new"),
            (Answer(self.verdict(recrawl="changed")), "p", False, "changed"),
            (Answer(self.verdict(recrawl="unchanged")), "p", True, "unchanged"),
            (Answer(self.verdict(recrawl="unchanged")), "", False, "unstored"),
            (Answer(self.verdict(recrawl="unchanged", outcome="insufficient")), "p", False, "insufficient"),
            (Answer({"outcome": "rejected", "reason": "too_large", "classes": []}), "p", False, "rejected"),
            (Answer(self.mirror()), "o", True, "mirror"),
            (Answer(self.mirror()), "", False, "unstored"),
            (Answer(self.mirror(), mode="shadow"), "o", False, "shadow"),
            (Answer(self.mirror(canonical="p")), "op", False, "new"),
            (Answer(self.mirror(direction="this_in_that", **part)), "o", True, "mirror"),
            (Answer(self.mirror(direction="that_in_this", **part)), "o", False, "larger"),
        ):
            decision = decided("p", answer, set(kept))
            self.assertEqual((not decision.keep, decision.reason), (left_out, reason), answer)
            self.assertEqual(decision.canonical is not None, left_out or reason == "shadow", answer)

    def test_a_ledger_is_there_the_next_time(self):
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger(f"{folder}/ledger")
            ledger.add({"a": "2026", "b": ""})
            ledger.close()
            ledger = Ledger(f"{folder}/ledger")
            self.assertEqual([id in ledger for id in "abc"], [True, True, False])
            self.assertEqual(ledger.note("a"), "2026")
            ledger.close()


class Asking(unittest.TestCase):
    """A server that says what it is told to, connection by connection."""

    def asked(self, *answers, timeout_s=5, n=1):
        listener = socket.create_server(("127.0.0.1", 0))
        connections = []

        def serve():
            for answer in answers:
                connection, _ = listener.accept()
                connections.append(connection)
                if answer is None:  # and nothing more
                    continue
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                connection.sendall(answer)
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        filter = Filter(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_s=timeout_s)
        told = [filter.check(page("http://a.example/", "x")) for _ in range(n)]
        for socket_ in (*connections, listener):
            socket_.close()
        filter.close()
        return told

    def response(self, status, body, *headers):
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", body]
        return "\r\n".join(lines).encode()

    def test_a_busy_filter_is_asked_again_and_others_are_not(self):
        good = self.response("200 OK", '{"verdict": {"id": "x"}, "mode": "shadow"}')
        busy = self.response("503 Busy", '{"detail": "full"}', "retry-after: 0")
        self.assertEqual(self.asked(busy, good), [Answer({"id": "x"}, "shadow")])
        (told,) = self.asked(self.response("413 Large", '{"detail": "too large"}'))
        self.assertEqual(told.why, "the filter answers 413: too large")
        (told,) = self.asked(self.response("202 Accepted", '{"learned": true}'))
        self.assertIn("not judged", told.why)
        (told,) = self.asked(self.response("200 OK", "not JSON"))
        self.assertIsNone(told.verdict)

    def test_a_connection_that_was_closed_meanwhile_is_made_again(self):
        good = self.response("200 OK", '{"verdict": {"id": "x"}}')
        self.assertEqual(self.asked(good, good, n=2), [Answer({"id": "x"})] * 2)

    def test_one_that_hangs_costs_one_timeout_and_not_one_per_page(self):
        begun = time.monotonic()
        told = self.asked(None, timeout_s=0.5, n=50)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertTrue(all("away" in answer.why for answer in told))


if __name__ == "__main__":
    unittest.main()
