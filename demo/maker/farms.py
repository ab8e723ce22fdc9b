"""Pages that machines make: a link farm, shops of one generator, and the default page of a web server."""

from html import escape

from maker.english import TOPICS
from maker.shelf import Text
from maker.sites import Site

FARM = """goldenlinks topdirectory surf-start webgems clickcompass linkharbor bestsites portalino findorama netpointer
    urlgarden hitparade""".split()
SHOPS = [("Corner Stall", "cornerstall"), ("Barrow and Daughter", "barrowanddaughter"), ("The Odd Crate", "oddcrate")]
WARES = ["basket tools books yarn post", "account seeds prints toys help", "cart lamps chairs jars terms"]
DEFAULT_PAGE = """<!DOCTYPE html>
<html><head><title>Welcome to your new Larkhttpd server</title>
<style>body { width: 35em; margin: 0 auto; font-family: serif; }</style></head>
<body><h1>Larkhttpd is running</h1>
<p>If you can read this page, the Larkhttpd web server was installed on this machine and is working. The owner of the
site has not put any pages into its document folder yet, or the folder cannot be read by the server.</p>
<p>To replace this page, copy your own files to the document folder that is named in the main settings file. Settings
for single sites belong in the folder of virtual hosts; restart the server after each change so that it reads them.</p>
<p>Please do not report this page to the makers of Larkhttpd. They have no connection with this site and cannot tell who
runs it. The address of the person in charge may be found through the registry of the domain.</p>
<p><em>Thank you for choosing Larkhttpd.</em></p></body></html>
"""


def link_farm(pages):
    """25 pages on 12 domains, one template; each page links to the other domains, and its text is its own."""
    template = pages.builder.site("farm", "linkfarm", ["maps"], "f").template
    topics = sorted(TOPICS)
    for n in range(25):
        stem = FARM[n % 12]
        own = pages.dice.some(topics, 2)
        site = Site(stem.replace("-", " ").title(), f"{stem}.example", own, "cat", template, "", pages.dice)
        site.menu = [("Home", "/"), ("Top", "/top"), ("New", "/new"), ("Add", "/add")]
        links = []
        for other in FARM:
            label = pages.dice.one(TOPICS[pages.dice.one(topics)]["thing"])
            if other != stem:
                links.append(template.link(f"https://{other}.example/cat/page-{pages.dice.between(1, 99)}.html", label))
        text = pages.text(pages.writer, site.topics, pages.dice.between(7, 11))
        site.footer = " ".join(pages.dice.shuffled(links))
        pages.publish(site, text, "link_farm", note=f"farm of {len(FARM)} domains")


def shops(pages):
    """40 pages of one generator on 3 domains."""
    template = pages.builder.site("shop", "stallkeeper", ["maps"], "s").template
    topics = sorted(TOPICS)
    for n in range(40):
        name, stem = SHOPS[n % 3]
        topic = pages.dice.one(topics)
        site = Site(name, f"{stem}.example", [topic], "wares", template, name, pages.dice)
        site.menu = [(word.capitalize(), f"/{word}") for word in WARES[n % 3].split()]
        words = TOPICS[topic]
        text = pages.text(pages.writer, [topic], pages.dice.between(6, 9))
        figures = " ".join(f"{escape(part)} {pages.dice.between(2, 95)} cm;"
                           for part in pages.dice.some(words["part"], 3))
        blocks = pages.blocks(text) + [f"{figures} price {pages.dice.between(5, 400)}.{pages.dice.between(0, 9)}0"]
        pages.publish(site, text, "template", url=f"https://{site.domain}/wares/{1000 + 17 * n}", blocks=blocks,
                      note="one generator, 3 domains")


def default_pages(pages):
    """The same page of a web server on hosts that have nothing else in common."""
    first = None
    for n, stem in enumerate(["blueotter", "kestrelworks", "mapleandco", "quietbyte", "ninthwave", "tallgrass"]):
        site = Site(stem, f"{stem}.example", [], "", None, "", pages.dice)
        place = pages.shelf.anywhere() if first is None else pages.shelf.after([first])
        of = [first.id] if first else []
        url = pages.put(site, Text("", []), "boilerplate", place, of, "a server's default page",
                        f"http://www.{stem}.example/", html=DEFAULT_PAGE, frame="larkhttpd")
        first = first or Text("", [], url, place, url)
