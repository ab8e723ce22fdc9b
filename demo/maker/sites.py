"""The sites: names, domains, sections, templates, and the ways in which they name their pages."""

import re

from maker.skeletons import SKELETONS
from maker.templates import CLASSES, Template

# Name, domain, topics, number of articles, the folder of its articles. Folders are the site's own, since a folder in
# common would make addresses similar.
MAGAZINES = [
    ("The Harbour Ledger", "harbourledger.example", "lighthouses boats", 7, "ledger"),
    ("Hive and Hedge", "hiveandhedge.example", "bees gardens", 7, "notes"),
    ("Slow Crumb", "slowcrumb.example", "bread cheese", 7, "crumbs"),
    ("Branch Line Review", "branchlinereview.example", "railways canals", 7, "journal"),
    ("Night Sky Almanac", "nightskyalmanac.example", "stars radio", 7, "almanac"),
    ("The Luthier's Post", "luthierspost.example", "violins theatre", 7, "post"),
    ("Tick and Strike", "tickandstrike.example", "clocks", 4, "bench"),
    ("Towpath Times", "towpathtimes.example", "canals", 4, "towpath"),
    ("Second Flush", "secondflush.example", "tea", 4, "cups"),
    ("Forme and Furniture", "formeandfurniture.example", "printing", 4, "forme"),
    ("Above the Treeline", "abovethetreeline.example", "rescue", 4, "reports"),
    ("Windfall Weekly", "windfallweekly.example", "orchards", 4, "windfalls"),
    ("Skip Distance", "skipdistance.example", "radio", 4, "log"),
    ("Furnace Gazette", "furnacegazette.example", "glass", 4, "furnace"),
    ("Hub and Spindle", "hubandspindle.example", "bicycles", 4, "rides"),
    ("Warp Weighted", "warpweighted.example", "weaving", 4, "warp"),
    ("Ash Glaze", "ashglaze.example", "pottery", 4, "kilnbook"),
    ("Curd Harp", "curdharp.example", "cheese", 4, "dairy"),
    ("Neatline", "neatline.example", "maps", 4, "sheets"),
    ("Reed Bed Record", "reedbedrecord.example", "birds", 4, "sightings"),
    ("Spore Print", "sporeprint.example", "mushrooms", 4, "basket"),
    ("Prompt Corner", "promptcorner.example", "theatre", 4, "acts"),
    ("Clinker", "clinkerboats.example", "boats", 4, "yard"),
    ("Double Dug", "doubledug.example", "gardens", 4, "plots"),
    ("Below the Sump", "belowthesump.example", "caves", 4, "trips"),
    ("Zugzwang Weekly", "zugzwangweekly.example", "chess", 4, "games"),
]
COPYCATS = """bestreads-daily articlebarn freshpastes knowledge-attic readmorenow infoheap thecopyshelf webclippings
    paperboys hobby-portal storiesforfree allthenews-here craftdump weekendreader bigarchive""".split()
BAITS = """essay-helper cheapwatchdeals casino-lantern loanguide pills-direct replicabags termpaper-ace luckyspin
    creditfixers vpn-bargain""".split()
SECTIONS = """Archive Reviews Letters Diary Shop Events People Guides Features Notes Market Weather Gallery Podcast
    About Contact Index Answers""".split()
FOLDERS = "r k item view q doc node entry thread topic clip paste read pub x".split()
# No two sites have both quotation marks and names of classes in common.
STYLES = [
    (SKELETONS[(n + 3 * m) % len(SKELETONS)], quote, classes)
    for m, quote in enumerate(['"', "'", ""])
    for n, classes in enumerate(CLASSES)
]


def slug(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


class Site:
    """One domain and what its pages have in common."""

    def __init__(self, name, domain, topics, folder, template, footer, dice):
        self.name, self.domain, self.topics, self.folder = name, domain, topics, folder
        self.template, self.footer = template, footer
        self.menu = [(section, f"/{section.lower()}") for section in dice.some(SECTIONS, dice.between(4, 7))]
        self.ip = None

    def url(self, title):
        return f"https://{self.domain}/{self.folder}/{slug(title)}.html"

    def mirrored(self, domain):
        """The same site under another domain."""
        twin = Site.__new__(Site)
        twin.__dict__.update(self.__dict__, domain=domain, ip=None)
        return twin


class Builder:
    """Makes sites, each with a style that no other has."""

    def __init__(self, dice, writer):
        self.dice, self.writer = dice, writer
        self.styles = dice.shuffled(STYLES)

    def site(self, name, domain, topics, folder, plain=False):
        template = Template(domain, *self.styles.pop(), plain=plain)
        footer = self.writer.sentences(topics, 1)[0]
        return Site(name, domain, topics, folder, template, footer, self.dice)

    def magazines(self):
        return [(self.site(name, domain, topics.split(), folder), n) for name, domain, topics, n, folder in MAGAZINES]

    def copycats(self):
        def one(stem, folder):
            topics = [self.dice.one(["maps", "tea", "chess", "birds"])]
            return self.site(stem.replace("-", " ").title(), f"{stem}.example", topics, folder)

        return [one(stem, folder) for stem, folder in zip(COPYCATS, FOLDERS)]

    def baits(self):
        def one(n, stem):
            topics = [self.dice.one(["clocks", "weaving", "caves"])]
            name = stem.replace("-", " ").capitalize()
            return self.site(name, f"{stem}.example", topics, f"{stem[:4]}{n}", plain=True)

        return [one(n, stem) for n, stem in enumerate(BAITS)]
