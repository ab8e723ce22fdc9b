"""Sends labelled mails through a filter and keeps what it said of each when it came: features beside text and label.

    python -m classifier.collect mails.jsonl -o judged.jsonl
    python -m classifier.collect mails.jsonl -o judged.jsonl --shuffle 1
    python -m classifier.collect mails.jsonl -o judged.jsonl --kafka 127.0.0.1:9092

What a mail's numbers say must come from earlier mails alone, or an evaluation would look into the future. So revisions are left
out, and two things are refused: a filter that has seen the mails before, and topics of several partitions, which are judged in
an order that is not that of sending (run the filter with SEAMRIPPER_TOPICS__PARTITIONS=1).
"""

import argparse
import base64
import itertools
import json
import random
import sys
from pathlib import Path

from client import Filter, NoFilter

from .text import words

#: Mails, and about so many bytes of them, that are sent as one request.
PIECE, PIECE_BYTES = 500, 8 << 20

#: Of an envelope; the rest of a line is ours.
SENT = ("id", "raw", "received_at", "client_ip", "mail_from", "rcpt", "auth")


def over_http(mails: list[dict], filter: Filter, patience_s: float):
    """Sends the mails in their order; yields verdicts as they come."""
    # From here on the verdicts are on ours, whatever the filter has judged before.
    cursor = next((line["cursor"] for line in filter.verdicts("end", wait_s=0)), "beginning")
    for piece in pieces(mails):
        for told in filter.send("/v1/emails", piece):
            if told.get("repeated"):
                raise NoFilter(f"the filter was given {told['id']} before: start it on an empty folder")
    yield from (line for line in filter.verdicts(cursor, patience_s) if "id" in line)


def over_kafka(mails: list[dict], brokers: str, emails: str, verdicts: str, patience_s: float):
    """The same on Kafka: what is committed is read, and nothing that was there before."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    settings = {"bootstrap.servers": brokers}
    consumer = Consumer(settings | {"group.id": "classifier", "enable.auto.commit": False, "isolation.level": "read_committed"})
    try:
        known = consumer.list_topics(timeout=patience_s).topics
        if emails not in known or verdicts not in known:
            raise NoFilter(f"{brokers} has no topics {emails} and {verdicts}: start `seamripper run` on it")
        ends = [TopicPartition(verdicts, number) for number in known[verdicts].partitions]
        for end in ends:
            end.offset = consumer.get_watermark_offsets(end, timeout=patience_s)[1]
        consumer.assign(ends)
        producer = Producer(settings | {"enable.idempotence": True, "message.max.bytes": 16 << 20})
        failed = []
        for mail in mails:
            value = json.dumps({name: mail[name] for name in SENT if name in mail})
            while True:
                try:
                    producer.produce(emails, value, mail["id"], on_delivery=lambda error, _: error and failed.append(error))
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
        if producer.flush(patience_s) or failed:
            raise NoFilter(f"{brokers} did not take all mails: {failed[:1] or 'not in time'}")
        while (record := consumer.poll(patience_s)) is not None:
            if record.error():
                raise NoFilter(f"{verdicts}: {record.error()}")
            yield json.loads(record.value())
    finally:
        consumer.close()


def pieces(mails: list[dict]):
    piece, size = [], 0
    for mail in mails:
        piece.append({name: mail[name] for name in SENT if name in mail})
        size += len(mail["raw"])
        if len(piece) == PIECE or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def first_verdicts(mails: list[dict], verdicts) -> dict[str, dict]:
    """What was said of each mail when it came, or `NoFilter` where that is not what we got."""
    wanted, found, places = {mail["id"] for mail in mails}, {}, {}
    for verdict in verdicts:
        id, source = verdict["id"], verdict["source"]
        if verdict["revision"] or id not in wanted:
            continue
        if verdict.get("recrawl"):
            raise NoFilter(f"the filter has seen {id} before: start it on an empty folder")
        found[id], places[id] = verdict.get("features", {}), (source["partition"], source["offset"])
        if len(found) == len(wanted):
            break
    if len(found) < len(wanted):
        raise NoFilter(f"{len(wanted) - len(found)} of {len(wanted)} mails got no verdict in time")
    order = [places[mail["id"]] for mail in mails]
    if any(this >= next for this, next in itertools.pairwise(order)) or len({partition for partition, _ in order}) > 1:
        raise NoFilter("the mails were not judged in their order: run the filter with SEAMRIPPER_TOPICS__PARTITIONS=1")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mails", type=Path, help="labelled mails, one envelope per line, oldest first")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where to: one line per mail")
    parser.add_argument("--filter", metavar="URL", help="http://127.0.0.1:8470, or where SEAMRIPPER_HTTP__LISTEN says")
    parser.add_argument("--token-file", metavar="FILE", help="seamripper-data/http-token, or where SEAMRIPPER_BUS__FOLDER says")
    parser.add_argument("--kafka", metavar="BROKERS", help="send and read on Kafka instead")
    parser.add_argument("--topics", nargs=2, metavar=("EMAILS", "VERDICTS"), default=("emails", "verdicts"), help="their names there")
    parser.add_argument("--shuffle", metavar="SEED", type=int, help="send the mails in a random order")
    parser.add_argument("--patience", metavar="S", type=float, default=30, help="give up when nothing came for so long (%(default)s)")
    options = parser.parse_args()
    try:
        with open(options.mails, encoding="utf-8") as file:
            mails = [json.loads(line) for line in file if line.strip()]
        if len({mail["id"] for mail in mails}) < len(mails) or any(mail["label"] not in ("spam", "ham") for mail in mails):
            raise ValueError(f"{options.mails}: every mail has an id of its own and is labelled spam or ham")
        if options.shuffle is not None:
            random.Random(options.shuffle).shuffle(mails)
        if options.kafka:
            verdicts = over_kafka(mails, options.kafka, *options.topics, options.patience)
        else:
            filter = Filter(options.filter, options.token_file)
            filter.ready(options.patience)
            verdicts = over_http(mails, filter, options.patience)
        found = first_verdicts(mails, verdicts)
    except KeyError as error:
        print(f"collect: {options.mails}: a mail has no {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, NoFilter) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 1
    with open(options.output, "w", encoding="utf-8") as file:
        for mail in mails:
            known = {name: mail.get(name) for name in ("id", "label", "campaign")}
            text = words(base64.b64decode(mail["raw"]))
            file.write(json.dumps(known | {"features": found[mail["id"]], "text": text}) + "\n")
    print(f"{len(mails)} mails, each with what was known when it came, in {options.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
