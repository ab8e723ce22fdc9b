"""Reads mails by Python's `email` package: one per line in base64 on stdin, one JSON object per line on stdout.

subject   the decoded subject, or null if there is none or it holds bytes that nothing declares the charset of
n_parts   parts, containers included
text      the text of a mail that is one text/plain part, or null
"""

import base64
import email
import email.policy
import json
import sys


def clean(text):
    """Lone surrogates stand for bytes that could not be decoded, and are no JSON."""
    return text if text is None else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def subject_of(raw):
    message = email.message_from_bytes(raw, policy=email.policy.default)
    value = message["subject"]
    return None if value is None or "\ufffd" in clean(str(value)) else str(value)


def count(part):
    """Parts, containers included. Python makes parts of the blocks of a delivery status; they are one text."""
    if not part.is_multipart() or part.get_content_type() == "message/delivery-status":
        return 1
    return 1 + sum(count(inner) for inner in part.get_payload())


def text_of(message):
    if message.is_multipart() or message.get_content_type() != "text/plain":
        return None
    payload = message.get_payload(decode=True)
    charset = message.get_content_charset() or "utf-8"
    if charset in ("iso-8859-1", "latin1", "latin-1"):
        # What senders mean by it, and what every mail program and browser shows.
        charset = "cp1252"
    try:
        return payload.decode(charset)
    except (LookupError, UnicodeDecodeError):
        # Nothing to compare with: the mail lies about its charset, or names none that Python knows.
        return None


for line in sys.stdin.buffer:
    raw = base64.b64decode(line)
    message = email.message_from_bytes(raw)
    try:
        subject = subject_of(raw)
    except Exception as error:  # the package itself fails on some headers
        subject = None
        print(f"subject: {error!r}", file=sys.stderr)
    print(json.dumps({"subject": clean(subject), "n_parts": count(message), "text": clean(text_of(message))}))
