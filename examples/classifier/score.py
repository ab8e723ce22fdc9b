"""Asks the filter about mails as they come (`POST /v1/check`), and a classifier what it makes of them.

    python -m classifier.score spam.model mail.eml …
    python -m classifier.score spam.model --learn mail.eml        the filter remembers it for those that come after

One line of JSON per mail. With the filter away a mail is scored by its text alone, and `why` says so. (A model is a pickle: load
none that you did not make.)
"""

import argparse
import json
import sys
from pathlib import Path

import joblib
from client import Filter, mail

from .model import matrix
from .text import words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="what train wrote")
    parser.add_argument("mails", type=Path, nargs="+", help="raw mails (RFC 5322)")
    parser.add_argument("--learn", action="store_true", help="let the filter learn them, too (needs the token)")
    parser.add_argument("--filter", metavar="URL", help="http://127.0.0.1:8470, or where SEAMRIPPER_HTTP__LISTEN says")
    parser.add_argument("--token-file", metavar="FILE", help="seamripper-data/http-token, or where SEAMRIPPER_BUS__FOLDER says")
    options = parser.parse_args()
    try:
        models = joblib.load(options.model)
        filter = Filter(options.filter, options.token_file)
        for path in options.mails:
            raw = path.read_bytes()
            answer = filter.check(mail(path.name, raw), learn=options.learn)
            verdict = answer.verdict or {}
            features = verdict.get("features")
            row = matrix([{"text": words(raw), "features": features or {}}])
            name = "text + features" if features else "text"
            said = {"file": str(path), "spam": round(float(models[name].probabilities(row)[0]), 4), "by": name}
            said |= {"classes": verdict["classes"]} if verdict else {"why": answer.why}
            print(json.dumps(said), flush=True)
    except (OSError, ValueError) as error:
        print(f"score: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
