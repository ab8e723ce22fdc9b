"""Spam or ham, from the words of a mail, from the features of its verdict, or from both.

Two steps. `Words` is what most mail classifiers begin with: TF-IDF and logistic regression. `Classifier` is a second logistic
regression on what the first says and on the features. In one regression hundreds of thousands of words and 25 numbers would be
held to one strictness, which one of them must suffer from; in two, the second has as many columns as it has numbers, and "text
alone" is the same second step with one column, so that both are equally well calibrated.

A matrix has the counts of words in its first columns and the features in its last. Nothing in it was learnt (words are hashed to
columns); whatever is learnt is learnt from the rows that are given and from no others, and the first step says of a mail what it
would without having learnt from it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from .features import NAMES, OWN, numbers

#: Columns that words and pairs of words are hashed to.
COLUMNS = 1 << 18

#: How strict the first regression may be (smaller is stricter); which is best is found out from what it may learn from.
STRICTNESS = (1.0, 10.0, 100.0)

#: What a classifier sees: what the words say, and so many features. OWN are those that a mail has without any other.
MODELS = {
    "text": (True, 0),
    "text + own counts": (True, len(OWN)),
    "text + features": (True, len(NAMES)),
    "features alone": (False, len(NAMES)),
}


def matrix(mails: list[dict]):
    """A row for each line of `collect`."""
    hashed = HashingVectorizer(n_features=COLUMNS, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32)
    counts = hashed.transform(mail["text"] for mail in mails)
    ours = csr_matrix(np.array([numbers(mail["features"]) for mail in mails], dtype=np.float32))
    return hstack([counts, ours], format="csr")


def spam(mails: list[dict]):
    """1 for spam, 0 for ham."""
    return np.array([mail["label"] == "spam" for mail in mails], dtype=int)


@dataclass
class Words:
    """TF-IDF of the words that two mails had, and a logistic regression on it."""

    known: Any
    weights: Any
    regression: Any

    @classmethod
    def learnt(cls, rows, labels, strictness: float) -> "Words":
        counts = rows[:, :COLUMNS]
        known = np.flatnonzero(np.bincount(counts.indices, minlength=COLUMNS) > 1)
        weights = TfidfTransformer(sublinear_tf=True).fit(counts[:, known])
        # There are more words than mails: the dual problem is the small one.
        regression = LogisticRegression(C=strictness, solver="liblinear", dual=True, max_iter=2000, random_state=1)
        return cls(known, weights, regression.fit(weights.transform(counts[:, known]), labels))

    def scores(self, rows):
        return self.regression.decision_function(self.weights.transform(rows[:, :COLUMNS][:, self.known]))


@dataclass
class FirstStep:
    """The words of some mails, learnt, and what would be said of each of these mails without it and its fold."""

    words: Words
    unseen: Any
    folds: Any

    @classmethod
    def learnt(cls, rows, labels, folds) -> "FirstStep":
        tried = []
        for strictness in STRICTNESS:
            unseen = np.zeros(len(labels))
            for train, test in folds:
                unseen[test] = Words.learnt(rows[train], labels[train], strictness).scores(rows[test])
            tried.append((roc_auc_score(labels, unseen), strictness, unseen))
        _, strictness, unseen = max(tried, key=lambda each: each[0])
        return cls(Words.learnt(rows, labels, strictness), unseen, folds)


@dataclass
class Classifier:
    """The second step, with the first."""

    name: str
    words: Words
    regression: Any

    @classmethod
    def learnt(cls, name: str, rows, labels, first: FirstStep) -> "Classifier":
        seen = columns(name, first.unseen, rows)
        # Every column within one of zero: what the words say varies most, and is held back least.
        regression = LogisticRegressionCV(Cs=(0.1, 1.0, 10.0, 100.0), cv=first.folds, scoring="neg_log_loss", solver="newton-cholesky", l1_ratios=(0.0,), use_legacy_attributes=False)
        return cls(name, first.words, make_pipeline(MaxAbsScaler(), regression).fit(seen, labels))

    def probabilities(self, rows):
        """That each is spam."""
        return self.regression.predict_proba(columns(self.name, self.words.scores(rows), rows))[:, 1]


def columns(name: str, said, rows):
    """What the classifier of this name sees."""
    has_words, n_features = MODELS[name]
    ours = rows[:, COLUMNS : COLUMNS + n_features].toarray()
    return np.column_stack([said, ours]) if has_words else ours
