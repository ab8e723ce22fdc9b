"""Labelled mails as lines of JSON, oldest first: the stream that `collect` sends.

    python -m classifier.corpora demo demo/corpus > mails.jsonl
    python -m classifier.corpora corpus data/mail_spamassassin data/mail_csdmc2010 > mails.jsonl

A line is an envelope (schemas/email.json) with `label` (spam or ham) and, where it is known, `campaign`: copies of one mail. Your
own mails need nothing else: {"id": "…", "raw": "…base64…", "label": "spam"}, one per line, in the order in which they came.
"""

import argparse
import datetime
import email
import email.utils
import io
import json
import mailbox
import sys
import tarfile
from pathlib import Path

import zstandard
from client import mail

#: Where a mail's own dates are not believed.
NEVER = datetime.datetime.max.replace(tzinfo=datetime.UTC)


def demo(folder: Path):
    """The bundled corpus: campaigns are spam, and all else is not. It is in the order in which it is sent."""
    with open(folder / "truth.tsv", encoding="utf-8") as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    truth = {row[0]: dict(zip(head, row)) for row in rows}

    def labelled(place, envelope):
        spam = truth[place]["kind"] == "campaign"
        campaign = truth[place]["of"] if spam else None
        return envelope | {"label": "spam" if spam else "ham", "campaign": campaign}

    box = mailbox.mbox(folder / "mails.mbox", create=False)
    for n, key in enumerate(box.iterkeys(), 1):
        place = f"mails.mbox#{n}"
        yield labelled(place, mail(place, box.get_bytes(key)))
    with open(folder / "mails.jsonl", encoding="utf-8") as file:
        for n, line in enumerate(file, 1):
            yield labelled(f"mails.jsonl#{n}", json.loads(line))


def corpus(folders: list[Path]):
    """Folders with mails.tar.zst and labels.jsonl ({"file", "label", "campaign80"}), sorted by when the mails were received."""
    mails = []
    for folder in folders:
        with open(folder / "labels.jsonl", encoding="utf-8") as file:
            labels = {row["file"]: row for row in map(json.loads, file)}
        unpack = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        with open(folder / "mails.tar.zst", "rb") as packed:
            tar = tarfile.open(fileobj=io.BytesIO(unpack.stream_reader(packed).read()))
        for member in filter(tarfile.TarInfo.isfile, tar):
            row, raw = labels[member.name], tar.extractfile(member).read()
            facts = {"label": row["label"], "campaign": row.get("campaign80")}
            mails.append((received(raw), mail(row["id"], raw) | facts))
    mails.sort(key=lambda dated: dated[0])
    return (envelope for _, envelope in mails)


def received(raw: bytes) -> datetime.datetime:
    """When the last server got it, by the line that server wrote; else what the sender says."""
    head = email.message_from_bytes(raw)
    lines = [str(line).rpartition(";")[2] for line in head.get_all("received", [])]
    for date in lines + [str(head.get("date", ""))]:
        try:
            when = email.utils.parsedate_to_datetime(date.strip())
            return when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
        except (ValueError, TypeError, OverflowError):
            continue
    return NEVER


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    kinds.add_parser("demo", help="the bundled corpus").add_argument("folder", type=Path)
    kinds.add_parser("corpus", help="mails.tar.zst and labels.jsonl").add_argument("folder", type=Path, nargs="+")
    options = parser.parse_args()
    n = 0
    try:
        for n, envelope in enumerate(demo(options.folder) if options.kind == "demo" else corpus(options.folder), 1):
            print(json.dumps(envelope))
    except OSError as error:
        print(f"corpora: {error}", file=sys.stderr)
        return 1
    print(f"{n} mails", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
