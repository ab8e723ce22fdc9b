"""Learns from what `collect` wrote, and keeps two classifiers: text with features, and text alone for when the filter is away.

    python -m classifier.train judged.jsonl -o spam.model
"""

import argparse
import json
import sys
from pathlib import Path

import joblib

from .gain import folds
from .model import Classifier, FirstStep, matrix, spam

#: What a model is called inside its file.
KEPT = ("text + features", "text")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judged", type=Path, help="what collect wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the model")
    options = parser.parse_args()
    try:
        with open(options.judged, encoding="utf-8") as file:
            mails = [json.loads(line) for line in file]
        rows, labels = matrix(mails), spam(mails)
        first = FirstStep.learnt(rows, labels, folds(labels, None, 0))
        joblib.dump({name: Classifier.learnt(name, rows, labels, first) for name in KEPT}, options.output)
    except (OSError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    print(f"learnt from {len(mails)} mails, {labels.sum()} of them spam: {options.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
