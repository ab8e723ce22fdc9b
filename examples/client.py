"""A client of the filter's HTTP side, with nothing but Python's own library.

What is asked per document (`check`) never raises because the filter is away, busy or slow: the answer then has no verdict and
says why, and whoever asked goes on as if there were no filter. After a failure to reach it nobody tries again for `rest_s`, so
that a crawl does not stand still for a timeout per page. Thread-safe: every thread has a connection of its own.

The address is that of the run: SEAMRIPPER_HTTP__LISTEN, else 127.0.0.1:8470; the token lies in the run's folder
(SEAMRIPPER_BUS__FOLDER, else seamripper-data).
"""

import base64
import http.client
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

JSON = {"content-type": "application/json"}


class NoFilter(Exception):
    """What was needed from the filter could not be had."""


@dataclass(frozen=True)
class Answer:
    """What the filter says of one document. Without a verdict `why` says what came instead."""

    verdict: dict | None = None
    mode: str = "filter"
    why: str = ""


class Filter:
    def __init__(self, url: str | None = None, token_file: str | None = None, timeout_s: float = 10, rest_s: float = 5):
        url = url or "http://" + os.environ.get("SEAMRIPPER_HTTP__LISTEN", "127.0.0.1:8470")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url}: the filter's address looks like http://127.0.0.1:8470")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connect = lambda timeout: kind(parts.hostname, parts.port, timeout=timeout)
        folder = os.environ.get("SEAMRIPPER_BUS__FOLDER", "seamripper-data")
        self.url, self.timeout_s, self.rest_s = url, timeout_s, rest_s
        self._token_file = Path(token_file or Path(folder, "http-token"))
        self._mine = threading.local()
        self._away = (0.0, "")  # until when it is not asked, and why

    # -- one document ------------------------------------------------------------------------------------------------------

    def check(self, envelope: dict, learn: bool = False) -> Answer:
        """The verdict on a document now (`schemas/page.json`, `schemas/email.json`); learnt where `learn` says so."""
        until, why = self._away
        deadline = time.monotonic() + self.timeout_s
        if time.monotonic() < until:
            return Answer(why=why)
        kind = "email" if "raw" in envelope else "page"
        wait_ms = int(self.timeout_s * 900)
        path = "/v1/check?" + urlencode({"kind": kind, "learn": str(learn).lower(), "timeout_ms": wait_ms})
        body = json.dumps(envelope).encode()
        try:
            headers = JSON | (self._bearer() if learn else {})
            while True:
                status, fields, answer = self._ask("POST", path, headers, body, deadline - time.monotonic())
                pause = min(_seconds(fields.get("retry-after")), 5)
                if status not in (429, 503) or time.monotonic() + pause >= deadline:
                    break
                # Busy, not away.
                time.sleep(pause)
            said = json.loads(answer)
        except (OSError, http.client.HTTPException, ValueError, NoFilter) as error:
            why = f"the filter is away: {type(error).__name__}: {error}"
            self._away = (time.monotonic() + self.rest_s, why)
            return Answer(why=why)
        if status == 200 and isinstance(said, dict) and isinstance(said.get("verdict"), dict):
            return Answer(said["verdict"], said.get("mode", "filter"))
        if status == 202:
            return Answer(why="learnt, and not judged in time")
        return Answer(why=f"the filter answers {status}: {_told(said)}")

    # -- many --------------------------------------------------------------------------------------------------------------

    def ready(self, wait_s: float = 0) -> None:
        """Waits until work may be given to it; raises `NoFilter` when it may not by then."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                status, _, answer = self._ask("GET", "/readyz", {}, None, self.timeout_s)
                if status == 200:
                    return
                why = f"it answers {status}: {answer[:200].decode(errors='replace')}"
            except (OSError, http.client.HTTPException) as error:
                why = str(error) or type(error).__name__
            if time.monotonic() >= deadline:
                raise NoFilter(f"no filter is ready on {self.url} ({why}); start one with `seamripper run`")
            time.sleep(0.1)

    def send(self, path: str, envelopes: list[dict]) -> list[dict]:
        """Sends documents in their order, as one request; where they are, now that they are durable."""
        body = "".join(json.dumps(envelope) + "\n" for envelope in envelopes).encode()
        headers = {"content-type": "application/x-ndjson"} | self._bearer()
        status, _, answer = self._ask("POST", path, headers, body, max(60, self.timeout_s))
        said = json.loads(answer)
        if status != 200:
            raise NoFilter(f"POST {path} is answered {status}: {_told(said)}")
        return said["documents"]

    def verdicts(self, cursor: str = "beginning", wait_s: float = 30):
        """The lines of `GET /v1/verdicts` from a cursor on: verdicts as they come, until none came for so long."""
        connection = self._connect(max(60, 2 * wait_s))
        try:
            connection.request("GET", "/v1/verdicts?" + urlencode({"from": cursor, "wait": wait_s}))
            response = connection.getresponse()
            if response.status != 200:
                raise NoFilter(f"GET /v1/verdicts is answered {response.status}: {response.read(500)!r}")
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    def close(self) -> None:
        """Closes the connection of this thread."""
        if connection := getattr(self._mine, "connection", None):
            connection.close()
            self._mine.connection = None

    # -- below -------------------------------------------------------------------------------------------------------------

    def _bearer(self) -> dict:
        try:
            return {"authorization": "Bearer " + self._token_file.read_text().strip()}
        except OSError as error:
            raise NoFilter(f"what is sent needs the token of the run: {error}") from error

    def _ask(self, method, path, headers, body, timeout_s):
        """One request. A connection that was kept may have been closed meanwhile: then a new one is tried, once."""
        for kept in (getattr(self._mine, "connection", None), None):
            connection = kept or self._connect(timeout_s)
            self._mine.connection = None
            try:
                if kept and kept.sock:
                    kept.sock.settimeout(max(timeout_s, 0.001))
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                answer = response.read()
                self._mine.connection = connection
                return response.status, response.headers, answer
            except (ConnectionError, http.client.BadStatusLine) as error:
                connection.close()
                if not kept:
                    raise error
            except BaseException:
                connection.close()
                raise
        raise AssertionError("the second connection was new")


def page(url: str, body: bytes | str, content_type: str | None = None, **facts) -> dict:
    """The envelope of a page, known by its URL exactly as it is given."""
    held = {"html": body} if isinstance(body, str) else {"body": base64.b64encode(body).decode()}
    named = {"content_type": content_type} | facts
    return {"id": url, "url": url} | held | {name: value for name, value in named.items() if value}


def mail(id: str, raw: bytes, **facts) -> dict:
    """The envelope of a mail."""
    return {"id": id, "raw": base64.b64encode(raw).decode()} | {name: value for name, value in facts.items() if value}


def _seconds(retry_after: str | None) -> float:
    return float(retry_after) if retry_after and retry_after.isdigit() else 0.2


def _told(said) -> str:
    return said.get("detail") or said.get("title") or str(said)[:200] if isinstance(said, dict) else str(said)[:200]
