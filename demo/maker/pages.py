"""The pages of the corpus: magazines first, then everything that lives on them."""

import base64
from html import escape

from maker import farms
from maker.english import TOPICS
from maker.shelf import Shelf, Text
from maker.sites import Builder


class Pages:
    """Writes the pages in a fixed order; the shelf then mixes them."""

    def __init__(self, dice, writers):
        self.dice, self.writers, self.writer = dice, writers, writers.english
        self.shelf = Shelf(dice)
        self.builder = Builder(dice, self.writer)
        self.magazines = self.builder.magazines()
        self.copycats, self.baits = self.builder.copycats(), self.builder.baits()
        self.originals = []  # pairs of site and text
        # Two domains on one machine, and some magazines whose address is known.
        for n, (site, _) in enumerate(self.magazines[:6]):
            site.ip = f"203.0.113.{10 + n}"
        self.uses = {}  # how often something was made from an original; 99 keeps others away from it

    def blocks(self, text):
        return [escape(" ".join(paragraph), quote=False) for paragraph in text.paragraphs]

    def put(self, site, text, kind, place, of=(), note="", url=None, blocks=None, frame=None, html=None, language="en"):
        """Puts a page on the shelf."""
        url = url or site.url(text.title)
        if html is None:
            html = site.template.page(site, text.title, blocks or self.blocks(text), language, self.date(place))
        envelope = {"url": url, "html": html}
        if site.ip:
            envelope["ip"] = site.ip
        self.shelf.add(id=url, kind=kind, body=envelope, place=place, of=list(of), frame=frame or site.template.name,
                       note=note)
        return url

    def date(self, place):
        return f"2026-{1 + int(place * 3):02}-{1 + int(place * 997) % 28:02}"

    def text(self, writer, topics, n_sentences):
        sentences = writer.sentences(topics, n_sentences)
        return Text(writer.title(topics), writer.paragraphs(sentences))

    def publish(self, site, text, kind="original", place=None, **more):
        text.place = self.shelf.anywhere() if place is None else place
        text.url = text.id = self.put(site, text, kind, text.place, **more)
        return text

    def write(self):
        for site, n in self.magazines:
            for _ in range(n):
                text = self.text(self.writer, site.topics, self.dice.between(13, 26))
                self.originals.append((site, self.publish(site, text)))
        self.recrawls()
        self.mirrors()
        self.excerpts()
        self.own_quotations()
        self.quilts()
        self.diary()
        self.japanese()
        self.russian()
        farms.link_farm(self)
        farms.shops(self)
        farms.default_pages(self)
        return self.shelf.in_order()

    def chosen(self, n, foreign_to=None, longest=False):
        """`n` originals of different sites that were taken from least so far, in any order or the longest first."""
        taken, sites = [], {foreign_to}

        def order(pair):
            return self.uses.get(pair[1].id, 0), -len(pair[1].sentences) * longest

        for site, text in sorted(self.dice.shuffled(self.originals), key=order):
            if len(taken) < n and site.domain not in sites:
                sites.add(site.domain)
                taken.append((site, text))
                self.uses[text.id] = self.uses.get(text.id, 0) + 1
        return taken

    # Copies

    def edited(self, text):
        """A copy with small edits: one sentence gone, one new, a few words exchanged."""
        paragraphs = [list(paragraph) for paragraph in text.paragraphs]
        where = self.dice.below(len(paragraphs))
        paragraphs[where].pop(self.dice.below(len(paragraphs[where])))
        paragraphs[self.dice.below(len(paragraphs))] += self.writer.sentences(["maps", "weaving"], 1)
        for _ in range(3):
            paragraph = self.dice.one([p for p in paragraphs if p])
            at = self.dice.below(len(paragraph))
            words = paragraph[at].split(" ")
            word = self.dice.between(1, len(words) - 1)
            words[word] = self.dice.one(["indeed", "perhaps", "certainly", "again", "there", "too"])
            paragraph[at] = " ".join(words)
        return Text(text.title, [paragraph for paragraph in paragraphs if paragraph])

    def reworded(self, text):
        """A copy of which every tenth word is another."""
        n, paragraphs = 0, []
        for paragraph in text.paragraphs:
            sentences = []
            for sentence in paragraph:
                words = sentence.split(" ")
                for at in range(len(words)):
                    n += 1
                    if n % 10 == 0:
                        end = words[at][len(words[at].rstrip(".,;:!?\"")) :]
                        words[at] = self.dice.one(TOPICS[self.dice.one(sorted(TOPICS))]["adj"]) + end
                sentences.append(" ".join(words))
            paragraphs.append(sentences)
        return Text(text.title, paragraphs)

    def mirrors(self):
        def copied(site, source, text, kind, note, url):
            self.put(site, text, kind, self.shelf.after([source]), [source.id], note, url)

        for n, (_, source) in enumerate(self.chosen(2, longest=True)):
            site = self.copycats[8 + n]
            copied(site, source, self.reworded(source), "copy", "every tenth word changed",
                   f"https://{site.domain}/{site.folder}/spun-{n}")
        for n, (_, source) in enumerate(self.chosen(12, longest=True)):
            site = self.copycats[n % 10]
            copied(site, source, self.edited(source), "copy", "small edits, another template",
                   f"https://{site.domain}/{site.folder}/{7100 + 13 * n}")
        for n, (home, source) in enumerate(self.chosen(8)):
            domain = home.domain.replace(".", ["-mirror.", "-backup."][n % 2])
            site = home.mirrored(domain)
            copied(site, source, source, "mirror", "same template, similar address",
                   source.url.replace(home.domain, domain))
        for home, source in self.chosen(3):
            blocks = "\n".join(f"<p>{block}</p>" for block in self.blocks(source))
            html = f"<html><head><title>{escape(source.title, quote=False)}</title></head><body onload=\"print()\">\n" \
                   f"<h1>{escape(source.title, quote=False)}</h1>\n{blocks}\n</body></html>\n"
            url = source.url + "?print=1"
            self.put(home, source, "mirror", self.shelf.after([source]), [source.id], "printed version", url, html=html,
                     frame="-")
        _, source = self.chosen(1)[0]
        for n, site in enumerate(self.copycats[10:15]):
            copied(site, source, source, "copy", "one of five of one page",
                   f"https://{site.domain}/{site.folder}/{31 * n + 400}.htm")

    # Pages that are made of others

    def excerpt(self, text, n):
        """Up to `n` sentences that stand together, never half of the text."""
        sentences = text.sentences
        n = min(n, len(sentences) * 2 // 5)
        at = self.dice.below(len(sentences) - n + 1)
        return sentences[at : at + n]

    def quilted(self, sources, own, writer=None):
        """Patches of 3 to 6 sentences, in any order, and some sentences of its own."""
        writer = writer or self.writer
        patches = [self.excerpt(text, self.dice.between(3, 6)) for _, text in sources]
        if own:
            patches.append(writer.sentences(["clocks", "caves"], own))
        return Text(writer.title(["maps", "glass"]), self.dice.shuffled(patches))

    def excerpts(self):
        """Texts with passages of one and of two others: too few for a quilt."""
        for n, own in ((1, 8), (2, 5)):
            name, domain = [("Letters Home", "lettershome.example"), ("Two Voices", "twovoices.example")][n - 1]
            site = self.builder.site(name, domain, ["tea"], f"voices{n}")
            sources = self.chosen(n, site.domain)
            patches = [self.excerpt(text, 5) for _, text in sources]
            patches += self.writer.paragraphs(self.writer.sentences(["tea", "stars"], own))
            text = Text(self.writer.title(["tea"]), self.dice.shuffled(patches))
            texts = [text for _, text in sources]
            self.uses.update((text.id, 99) for text in texts)
            self.publish(site, text, "excerpts", self.shelf.after(texts), of=[text.id for text in texts],
                         note=f"{n} foreign source{'s' * (n > 1)}: no quilt")

    def quilts(self):
        for n in range(20):
            site = self.baits[n % 10]
            sources = self.chosen(4 + n % 5, site.domain)
            text = self.quilted(sources, own=n % 3)
            texts = [text for _, text in sources]
            early = n in (3, 8, 13, 17)
            place = self.shelf.before(texts) if early else self.shelf.after(texts)
            note = "arrives before its sources" if early else ""
            self.publish(site, text, "quilt", place, of=[text.id for text in texts], note=note)
        for n in range(3):
            name = ["Linkblog", "Morning Digest", "Nine Good Reads"][n]
            site = self.builder.site(name, name.replace(" ", "").lower() + ".example", ["maps"], f"issue{'abc'[n]}")
            sources = self.chosen(5 + n, site.domain)
            blocks = [escape(" ".join(self.excerpt(text, 4)), quote=False) + " "
                      + site.template.link(text.url, f"From {home.name}: {text.title}")
                      for home, text in sources]
            text = Text(self.writer.title(["maps", "printing"]), [])
            texts = [text for _, text in sources]
            self.publish(site, text, "aggregator", self.shelf.after(texts), of=[text.id for text in texts],
                         blocks=blocks, note="links to each source")

    def own_quotations(self):
        """A home page that quotes its own articles, and a sister site on the same machine that quotes another's."""
        site, _ = self.magazines[1]
        texts = [text for home, text in self.originals if home is site]
        self.uses.update((text.id, 99) for text in texts)
        blocks = [site.template.link(text.url, text.title) + " "
                  + escape(" ".join(self.excerpt(text, 3)), quote=False) for text in texts]
        self.put(site, Text("Home", []), "home", self.shelf.after(texts), [text.id for text in texts],
                 "quotes its own site", f"https://{site.domain}/", blocks)
        home, _ = self.magazines[3]
        sister = self.builder.site("Line and Water", "lineandwater.example", ["canals"], "digest")
        sister.ip = home.ip
        texts = [text for site, text in self.originals if site is home][:5]
        self.uses.update((text.id, 99) for text in texts)
        text = Text(self.writer.title(["canals"]), [self.excerpt(text, 4) for text in texts])
        self.publish(sister, text, "own_quilt", self.shelf.after(texts), of=[text.id for text in texts],
                     note="another domain of the same server (ip)")

    def diary(self):
        """Days, and the month that holds them."""
        site = self.builder.site("A Keeper's Diary", "keepersdiary.example", ["lighthouses", "birds"], "2026")
        days = []
        for n in range(6):
            sentences = self.writer.sentences(site.topics, self.dice.between(5, 7))
            day = Text(f"{3 + 4 * n} February", self.writer.paragraphs(sentences))
            days.append(self.publish(site, day, "day", url=f"https://{site.domain}/2026/02/{3 + 4 * n:02}"))
        month = Text("February 2026", [sentence for day in days for sentence in day.paragraphs])
        self.publish(site, month, "month", self.shelf.after(days), of=[day.id for day in days],
                     note="contains the days", url=f"https://{site.domain}/2026/02/")

    def recrawls(self):
        for n, (site, text) in enumerate(self.dice.some(self.originals, 4)):
            self.uses[text.id] = 99
            place = self.shelf.after([text])
            if n < 3:
                entry = next(entry for entry in self.shelf.entries if entry.id == text.id)
                self.put(site, text, "recrawl", place, [text.id], "unchanged", html=entry.body["html"])
            else:
                half = len(text.paragraphs) // 2
                new = self.writer.paragraphs(self.writer.sentences(site.topics, 9))
                changed = Text(text.title, text.paragraphs[:half] + new)
                self.put(site, changed, "recrawl", place, [text.id], "changed: half of it is new", url=text.url)

    # Other scripts

    def foreign(self, language, writer, sites, n_originals, n_sentences, charset):
        """Originals and two copies of them, one of these in an old charset."""
        texts = []
        for n in range(n_originals):
            site = sites[n % len(sites)]
            sentences = writer.sentences([""], self.dice.between(*n_sentences))
            text = Text(writer.title([""]), writer.paragraphs(sentences))
            blocks = [writer.language.joined(paragraph) for paragraph in text.paragraphs]
            url = f"https://{site.domain}/{site.folder}/{101 + 7 * n}"
            texts.append((site, self.publish(site, text, blocks=blocks, url=url, language=language)))
        for n, (_, source) in enumerate(texts[:2]):
            site = sites[-1]
            paragraphs = [list(paragraph) for paragraph in source.paragraphs]
            paragraphs[-1][-1] = writer.sentences([""], 1)[0]
            blocks = [writer.language.joined(paragraph) for paragraph in paragraphs]
            note = "last sentence changed" + (f", as {charset}" if n else "")
            self.put(site, source, "copy", self.shelf.after([source]), [source.id], note,
                     f"https://{site.domain}/copied/{900 + n}", blocks, language=language)
            if n:
                body = self.shelf.entries[-1].body
                html = body.pop("html").replace("utf-8", charset)
                body.update(body=base64.b64encode(html.encode(charset)).decode(),
                            content_type=f"text/html; charset={charset}")
        return texts

    def japanese(self):
        writer = self.writers.japanese
        names = [("山里だより", "yamazato"), ("港の手帖", "minatocho"), ("職人帳", "shokunin"), ("古道具通信", "furudogu")]
        names.append(("まとめ館", "matomekan"))
        sites = [self.builder.site(name, f"{stem}.example", ["tea"], stem[:4]) for name, stem in names]
        for site in sites:
            site.footer = writer.sentences([""], 1)[0]
            labels = self.dice.some(["目次", "記録", "便り", "写真", "連絡先", "店", "暦"], 4)
            site.menu = [(label, f"/{n}/") for n, label in enumerate(labels)]
        texts = self.foreign("ja", writer, sites[:4], 10, (13, 18), "shift_jis")
        sources = [(site, text) for site, text in texts if site is not sites[3]][2:6]
        quilt = self.quilted(sources, own=1, writer=writer)
        blocks = [writer.language.joined(paragraph) for paragraph in quilt.paragraphs]
        texts = [text for _, text in sources]
        self.publish(sites[4], quilt, "quilt", self.shelf.after(texts), of=[text.id for text in texts], blocks=blocks,
                     url=f"https://{sites[4].domain}/matome/5", language="ja")

    def russian(self):
        writer = self.writers.russian
        names = [("Речной вестник", "rechnoy"), ("Старый двор", "starydvor"), ("Копилка", "kopilka")]
        sites = [self.builder.site(name, f"{stem}.example", ["maps"], stem[:5]) for name, stem in names]
        for site in sites:
            site.footer = writer.sentences([""], 1)[0]
            labels = self.dice.some(["Главная", "Архив", "Письма", "Музей", "Почта", "Карта"], 4)
            site.menu = [(label, f"/{n}/") for n, label in enumerate(labels)]
        self.foreign("ru", writer, sites, 8, (12, 17), "windows-1251")
