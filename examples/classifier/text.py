"""The words of a mail, as a classifier that knows nothing of Seamripper would take them: subject and visible parts."""

import email
import email.header
from html.parser import HTMLParser

#: More of one mail adds nothing to its words.
CHARACTERS_MAX = 100_000


def words(raw: bytes) -> str:
    """Subject, then the text parts; markup is left out, and links stay as their addresses."""
    message = email.message_from_bytes(raw)
    pieces = [_subject(message)]
    for part in message.walk():
        if part.get_content_type() not in ("text/plain", "text/html"):
            continue
        body = part.get_payload(decode=True) or b""
        text = _decoded(body, part.get_content_charset())
        pieces.append(_visible(text) if part.get_content_type() == "text/html" else text)
    return "\n".join(pieces)[:CHARACTERS_MAX]


def _subject(message) -> str:
    subject = str(message.get("subject", ""))
    try:
        return str(email.header.make_header(email.header.decode_header(subject)))
    except (ValueError, LookupError):
        return subject


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("latin-1")


class _Visible(HTMLParser):
    def __init__(self):
        super().__init__()
        self.pieces, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")
        self.pieces.extend(value for name, value in attributes if tag == "a" and name == "href" and value)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.hidden = max(0, self.hidden - 1)

    def handle_data(self, data):
        if not self.hidden:
            self.pieces.append(data)


def _visible(html: str) -> str:
    parser = _Visible()
    parser.feed(html[: 4 * CHARACTERS_MAX])
    parser.close()
    return " ".join(parser.pieces)
