"""A small web on this machine, to try a crawler on: the bundled pages, with their mirrors, copies and link farms.

    python -m crawl.made warc demo/corpus/pages.jsonl crawl.warc.gz         a crawl of it, in order
    python -m crawl.made serve demo/corpus/pages.jsonl --port 8480          a proxy that knows no other web
    http_proxy=http://127.0.0.1:8480 https_proxy=$http_proxy scrapy …       ... crawled through it, from http://start.example/

Two records of one address are two versions of a page: the proxy gives the first, and with `--day 2` the last.
"""

import argparse
import html
import io
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

START = "http://start.example/"


def pages(path: Path) -> list[tuple[str, str]]:
    """Address and page, in order. The proxy speaks no TLS, so all addresses are http."""
    with open(path, encoding="utf-8") as file:
        envelopes = [json.loads(line) for line in file]
    plain = lambda text: text.replace("https://", "http://")  # noqa: E731
    return [(plain(page["url"]), plain(page["html"])) for page in envelopes if page.get("url") and page.get("html")]


def warc(path: Path, output: Path) -> int:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with open(output, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for n, (url, text) in enumerate(pages(path)):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            date = {"WARC-Date": f"2026-04-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z"}
            body = io.BytesIO(text.encode())
            writer.write_record(writer.create_warc_record(url, "response", payload=body, http_headers=head, warc_headers_dict=date))
    return n + 1


def server(path: Path, port: int, day: int = 1) -> ThreadingHTTPServer:
    """A proxy for this web alone, which begins with a page that links to all others."""
    versions: dict[str, list[str]] = {}
    for url, text in pages(path):
        versions.setdefault(url, []).append(text)
    links = "".join(f'<li><a href="{html.escape(url)}">{n}</a>' for n, url in enumerate(versions))
    versions[START] = [f"<title>Start</title><ul>{links}</ul>"]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            found = versions.get(self.path)
            body = (found[0] if day == 1 else found[-1]).encode() if found else b"there is no such page"
            self.send_response(200 if found else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("warc", help="a crawl as a file")
    one.add_argument("pages", type=Path)
    one.add_argument("output", type=Path)
    other = kinds.add_parser("serve", help="a proxy")
    other.add_argument("pages", type=Path)
    other.add_argument("--port", type=int, default=8480)
    other.add_argument("--day", type=int, choices=(1, 2), default=1, help="which version of pages that have two")
    options = parser.parse_args()
    try:
        if options.kind == "warc":
            print(f"{options.output}: {warc(options.pages, options.output)} pages", file=sys.stderr)
        else:
            server(options.pages, options.port, options.day).serve_forever()
    except OSError as error:
        print(f"made: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
