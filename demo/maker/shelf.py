"""Documents with the truth about them, and the order in which they arrive."""

from dataclasses import dataclass, field


@dataclass
class Text:
    """What a page says: a title, paragraphs of sentences, and where it was published."""

    title: str
    paragraphs: list
    url: str = ""
    place: float = 0.0
    id: str = ""

    @property
    def sentences(self):
        return [sentence for paragraph in self.paragraphs for sentence in paragraph]


@dataclass
class Entry:
    """One line of a corpus file. `of` are the ids of what it was made from, `frame` names its template."""

    id: str
    kind: str
    body: object
    place: float
    of: list = field(default_factory=list)
    frame: str = "-"
    note: str = ""


class Shelf:
    """Collects the entries; who comes after whom is decided by places in 0..1."""

    def __init__(self, dice):
        self.dice, self.entries = dice, []

    def anywhere(self):
        return self.dice.share()

    def after(self, texts):
        """A place behind all of `texts`."""
        last = max(text.place for text in texts)
        return last + (1 - last) * (0.02 + 0.98 * self.dice.share())

    def before(self, texts):
        """A place ahead of all of `texts`."""
        return min(text.place for text in texts) * self.dice.share()

    def add(self, **fields):
        self.entries.append(Entry(**fields))

    def in_order(self):
        return sorted(self.entries, key=lambda entry: (entry.place, entry.id, entry.kind))
