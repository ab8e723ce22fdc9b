"""Writes texts that have no passage in common: what would repeat a run of words of any earlier text is thrown again."""

from maker.english import English
from maker.japanese import Japanese
from maker.russian import Russian


class Writers:
    """One writer per language for the whole corpus, so that mails and pages have no passage in common either."""

    def __init__(self, dice):
        self.english, self.japanese, self.russian = (Writer(one(dice), dice) for one in (English, Japanese, Russian))


class Writer:
    """One language, and the runs of words (or characters) that are taken."""

    def __init__(self, language, dice):
        self.language, self.dice = language, dice
        self.taken = set()

    def grams(self, units):
        n = self.language.gram
        return {tuple(units[i : i + n]) for i in range(len(units) - n + 1)}

    def sentences(self, topics, n):
        """`n` new sentences about `topics`, each by another pattern."""
        tail, made, patterns = [], [], []
        while len(made) < n:
            if not patterns:
                patterns = self.dice.shuffled(self.language.patterns)
            pattern = patterns.pop()
            for _ in range(60):
                text = self.language.sentence(pattern, self.dice.one(topics))
                units = self.language.units(text)
                grams = self.grams(tail + units)
                if len(text) >= self.language.sentence_chars_min and not grams & self.taken:
                    self.taken |= grams
                    tail = units[-(self.language.gram - 1) :]
                    made.append(text)
                    break
        return made

    def title(self, topics):
        while True:
            text = self.language.sentence(self.dice.one(self.language.titles), self.dice.one(topics)).rstrip(".")
            grams = self.grams(self.language.units(text)) | {text}
            if not grams & self.taken:
                self.taken |= grams
                return text

    def paragraphs(self, sentences):
        """Cuts sentences into paragraphs of two to five."""
        rest, paragraphs = list(sentences), []
        while rest:
            n = self.dice.between(2, 5)
            n = len(rest) if len(rest) - n < 2 else n
            paragraphs.append(rest[:n])
            rest = rest[n:]
        return paragraphs
