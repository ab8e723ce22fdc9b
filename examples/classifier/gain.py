"""What the features of verdicts add to text: the same classifier with and without them, on the same mails.

    python -m classifier.gain judged.jsonl
    python -m classifier.gain judged.jsonl --repeats 5 > gain.json

Four ways to ask, each with the same mails for all classifiers:

    at random        five folds, learnt from four and tested on the fifth
    campaigns apart  the same, with the copies of a campaign in one fold: no test mail has its copy among those learnt from
    few labels       learnt from 100 mails, tested on all others
    in time          learnt from the first 70 of 100 mails, tested on those that came after

JSON goes to stdout, a table to stderr.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import sklearn
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from .model import MODELS, Classifier, FirstStep, matrix, spam

FOLDS = 5
FEW, N_FEW = 100, 10
PAST = 0.7
RESAMPLES = 1000


class TooFew(Exception):
    """There are not enough mails of a kind to ask like this."""


def folds(labels, groups, seed):
    """Folds of about the same share of spam; where there are groups, each is in one fold as a whole."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    return list(kind(FOLDS, shuffle=True, random_state=seed).split(labels, labels, groups))


def at_random(labels, groups, repeats):
    return [fold for seed in range(repeats) for fold in folds(labels, None, seed)]


def campaigns_apart(labels, groups, repeats):
    if min(len(set(groups[labels == label])) for label in (0, 1)) < FOLDS * FOLDS:
        raise TooFew(f"fewer than {FOLDS * FOLDS} different mails of one label")
    return [fold for seed in range(repeats) for fold in folds(labels, groups, seed)]


def few_labels(labels, groups, repeats):
    if len(labels) < 4 * FEW:
        raise TooFew(f"fewer than {4 * FEW} mails")
    return list(StratifiedShuffleSplit(N_FEW, train_size=FEW, random_state=0).split(labels, labels))


def in_time(labels, groups, repeats):
    n = int(len(labels) * PAST)
    if min(np.bincount(labels[:n], minlength=2)) < FOLDS or len(set(labels[n:])) < 2:
        raise TooFew(f"fewer than {FOLDS} of one label among the first {n} mails, or none after them")
    return [(np.arange(n), np.arange(n, len(labels)))]


WAYS = {"at random": at_random, "campaigns apart": campaigns_apart, "few labels": few_labels, "in time": in_time}


def probabilities(rows, labels, groups, train, test) -> dict:
    """What each classifier says of the mails in `test`, having learnt from those in `train`."""
    first = FirstStep.learnt(rows[train], labels[train], folds(labels[train], None if groups is None else groups[train], 0))
    return {name: Classifier.learnt(name, rows[train], labels[train], first).probabilities(rows[test]) for name in MODELS}


def measured(labels, said) -> dict:
    """The chance that a spam is called more likely spam than a ham is; F1 and errors at one half."""
    n_spam, called = labels.sum(), said >= 0.5
    n_ham, hits = len(labels) - n_spam, (called & (labels == 1)).sum()
    auc = (rankdata(said)[labels == 1].sum() - n_spam * (n_spam + 1) / 2) / (n_spam * n_ham)
    return {"auc": auc, "f1": 2 * hits / (called.sum() + n_spam), "errors": int((called != labels).sum())}


def asked(way, rows, labels, groups, repeats) -> dict:
    """Each classifier, and its gain over text. The spread is that over the splits; of a single one, that over draws of its mails."""
    try:
        splits = WAYS[way](labels, groups, repeats)
    except TooFew as error:
        return {"not_asked": str(error)}
    kept = groups if way == "campaigns apart" else None
    said = [(labels[test], probabilities(rows, labels, kept, train, test)) for train, test in splits]
    varied = said if len(said) > 1 else drawn(*said[0])

    def summed(name):
        summary = {"errors": sum(measured(truth, of[name])["errors"] for truth, of in said)}
        for measure in ("auc", "f1"):
            here, there = (values(measure, name, each) for each in (said, varied))
            text_here, text_there = (values(measure, "text", each) for each in (said, varied))
            gain = {"mean": (here - text_here).mean(), "spread": (there - text_there).std(ddof=1)}
            summary[measure] = {"mean": here.mean(), "spread": there.std(ddof=1), "gain": gain}
        return summary

    about = {"splits": len(splits), "learnt_from": len(splits[0][0]), "tested_on": len(splits[0][1])}
    return about | {"models": {name: summed(name) for name in MODELS}}


def values(measure, name, said):
    return np.array([measured(truth, of[name])[measure] for truth, of in said])


def drawn(truth, said):
    """The same mails, drawn with replacement."""
    chance = np.random.default_rng(1)
    draws = (chance.integers(0, len(truth), len(truth)) for _ in range(RESAMPLES))
    return [(truth[draw], {name: of[draw] for name, of in said.items()}) for draw in draws if len(set(truth[draw])) == 2]


def table(summary: dict) -> str:
    lines = [f"{summary['mails']} mails, {summary['spam']} of them spam; value ±spread (gain over text ±spread)"]
    for way in WAYS:
        told = summary[way]
        if "not_asked" in told:
            lines.append(f"{way}: not asked, {told['not_asked']}")
            continue
        lines.append(f"{way}: learnt from {told['learnt_from']}, tested on {told['tested_on']}, {told['splits']} times")
        for model, value in told["models"].items():
            line = f"  {model:18}"
            for measure in ("auc", "f1"):
                found, gain = value[measure], value[measure]["gain"]
                gained = "" if model == "text" else f"({gain['mean']:+.4f} ±{gain['spread']:.4f})"
                line += f" {measure} {found['mean']:.4f} ±{found['spread']:.4f} {gained:18}"
            lines.append(f"{line} errors {value['errors']}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judged", type=Path, help="what collect wrote")
    parser.add_argument("--repeats", type=int, default=2, help="so many times five folds (%(default)s)")
    options = parser.parse_args()
    try:
        with open(options.judged, encoding="utf-8") as file:
            mails = [json.loads(line) for line in file]
    except (OSError, ValueError) as error:
        print(f"gain: {options.judged}: {error}", file=sys.stderr)
        return 1
    labels = spam(mails)
    if min(np.bincount(labels, minlength=2)) < 2 * FOLDS:
        print(f"gain: {options.judged} has fewer than {2 * FOLDS} mails of one label", file=sys.stderr)
        return 1
    # Thousands of small fits: looking at their arguments again and again would take longer than they do.
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    rows = matrix(mails)
    groups = np.unique([mail["campaign"] or "mail " + mail["id"] for mail in mails], return_inverse=True)[1]
    summary = {"mails": len(mails), "spam": int(labels.sum())}
    summary |= {way: asked(way, rows, labels, groups, options.repeats) for way in WAYS}
    print(json.dumps(summary))
    print(table(summary), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
