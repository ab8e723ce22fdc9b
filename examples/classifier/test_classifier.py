"""What the classifier's figures rest on. Run by `make test`; by hand: python -m unittest discover -s examples -t examples"""

import base64
import json
import random
import unittest
from unittest.mock import patch

import numpy as np
from client import Filter, NoFilter
from sklearn.metrics import f1_score, roc_auc_score

from . import collect, features, gain, model
from .text import words


def mails(n, seed=0, words_tell=True, features_tell=False):
    """Made mails, every second one spam; words, features or both tell which."""
    chance = random.Random(seed)
    made = []
    for number in range(n):
        spam = number % 2 == 1
        vocabulary = [f"{'bad' if spam and words_tell else 'good'}{k}" for k in range(30)] + [f"any{k}" for k in range(60)]
        size = 50 * (spam and features_tell) + chance.randrange(10)
        made.append({
            "id": str(number), "label": "spam" if spam else "ham", "campaign": None,
            "text": " ".join(chance.choices(vocabulary, k=40)), "features": {"group_size": size},
        })  # fmt: skip
    return made


class Measures(unittest.TestCase):
    def test_they_are_those_of_scikit_learn(self):
        chance = np.random.default_rng(7)
        for _ in range(50):
            labels = np.append(chance.integers(0, 2, 40), [0, 1])
            said = chance.integers(0, 8, 42) / 7  # with ties
            told = gain.measured(labels, said)
            self.assertAlmostEqual(told["auc"], roc_auc_score(labels, said))
            self.assertAlmostEqual(told["f1"], f1_score(labels, said >= 0.5))
            self.assertEqual(told["errors"], int(((said >= 0.5) != labels).sum()))


class Learning(unittest.TestCase):
    def test_nothing_of_the_test_mails_is_learnt(self):
        """Other labels on the mails that are tested change nothing of what is said of them."""
        made = mails(60)
        rows, labels = model.matrix(made), model.spam(made)
        train, test = gain.folds(labels, None, 0)[0]
        told = gain.probabilities(rows, labels, None, train, test)
        turned = labels.copy()
        turned[test] = 1 - turned[test]
        again = gain.probabilities(rows, turned, None, train, test)
        for name in model.MODELS:
            np.testing.assert_array_equal(told[name], again[name])

    def test_features_help_exactly_where_they_tell_something(self):
        for words_tell, features_tell, gained in ((False, True, True), (False, False, False), (True, False, False)):
            made = mails(100, words_tell=words_tell, features_tell=features_tell)
            told = gain.asked("at random", model.matrix(made), model.spam(made), None, 1)["models"]
            better = told["text + features"]["auc"]["gain"]["mean"]
            self.assertEqual(better > 0.2, gained, told)
            self.assertGreater(better, -0.15, told)
            self.assertEqual(told["text"]["auc"]["mean"] > 0.95, words_tell, told)

    def test_copies_of_a_campaign_stay_together(self):
        labels = np.arange(200) % 2
        groups = np.arange(200) // 2 // 4 + 1000 * labels
        for train, test in gain.campaigns_apart(labels, groups, 2):
            self.assertFalse(set(groups[train]) & set(groups[test]))

    def test_in_time_the_past_is_learnt_from(self):
        ((train, test),) = gain.in_time(np.arange(100) % 2, None, 1)
        self.assertLess(max(train), min(test))
        with self.assertRaises(gain.TooFew):
            gain.in_time(np.arange(100) // 70, None, 1)


class Features(unittest.TestCase):
    def test_every_number_of_the_schema_has_its_place(self):
        with open("schemas/verdict.json", encoding="utf-8") as file:
            named = json.load(file)["$defs"]["features"]["properties"]
        # Every mail comes once.
        self.assertEqual(set(features.NAMES), set(named) - {"recrawl"})
        self.assertLessEqual(features.SHARES, set(features.NAMES))
        self.assertEqual(len(features.numbers({})), len(features.NAMES))


class Text(unittest.TestCase):
    def test_words_are_those_that_are_shown(self):
        raw = (
            b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nContent-Type: text/html; charset=latin-1\r\n\r\n"
            b"<style>no</style><p>caf\xe9 <a href='http://a.example/x'>here</a><script>never()</script></p>"
        )
        self.assertEqual(words(raw).split(), ["Grüße", "café", "http://a.example/x", "here"])
        for hostile in (b"", b"\xff" * 99, b"Content-Type: text/plain; charset=nothing\r\n\r\nx", b"Subject: =?x?b?!!!?=\n\n"):
            words(hostile)


class Collecting(unittest.TestCase):
    def verdict(self, id, offset, **more):
        source = {"topic": "emails", "partition": 0, "offset": offset}
        return {"id": id, "revision": 0, "source": source, "features": {"n_words": offset}} | more

    def test_what_came_first_counts(self):
        sent = [{"id": "a"}, {"id": "b"}]
        verdicts = [self.verdict("a", 0), self.verdict("x", 1), self.verdict("a", 0, revision=1, features={}), self.verdict("b", 2)]
        self.assertEqual(collect.first_verdicts(sent, verdicts), {"a": {"n_words": 0}, "b": {"n_words": 2}})

    def test_what_would_look_into_the_future_is_refused(self):
        sent = [{"id": "a"}, {"id": "b"}]
        other = {"topic": "emails", "partition": 1, "offset": 1}
        for verdicts, why in (
            ([self.verdict("a", 1), self.verdict("b", 0)], "order"),
            ([self.verdict("a", 0), self.verdict("b", 1, source=other)], "order"),
            ([self.verdict("a", 0), self.verdict("b", 1, recrawl="unchanged")], "before"),
            ([self.verdict("a", 0)], "no verdict"),
        ):
            with self.assertRaisesRegex(NoFilter, why):
                collect.first_verdicts(sent, verdicts)

    def test_pieces_are_bounded_and_in_order(self):
        large = base64.b64encode(b"x" * (3 << 20)).decode()
        sent = [{"id": str(n), "raw": large if n % 3 else "", "label": "ham"} for n in range(1100)]
        told = []
        for piece in collect.pieces(sent):
            self.assertLessEqual(len(piece), collect.PIECE)
            self.assertLess(sum(len(mail["raw"]) for mail in piece), collect.PIECE_BYTES + len(large))
            told += [mail["id"] for mail in piece]
        self.assertEqual(told, [mail["id"] for mail in sent])


class Scoring(unittest.TestCase):
    def test_without_a_filter_text_alone_is_asked(self):
        with patch.object(Filter, "_ask", side_effect=ConnectionRefusedError):
            answer = Filter("http://127.0.0.1:9").check({"id": "a", "raw": ""})
        self.assertIsNone(answer.verdict)
        self.assertIn("away", answer.why)


if __name__ == "__main__":
    unittest.main()
