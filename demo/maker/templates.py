"""Page templates: each site has its own skeleton, names, quotation marks, stylesheets, scripts and meta names.

A template is drawn once from its own dice, so that its pages agree in all but their text, and two templates agree in
next to nothing: files in the head carry the site's own names, and skeletons and attributes differ.
"""

from html import escape

from maker import skeletons
from maker.dice import Dice

METAS = """description keywords author robots theme-color og:title og:type og:site_name twitter:card twitter:site
    article:section format-detection referrer copyright dc.language rating color-scheme application-name revisit-after
    handheldfriendly apple-mobile-web-app-title geo.region google-site-verification""".split()
RELS = "alternate search preconnect dns-prefetch manifest license author shortlink pingback help index prev".split()
STYLES = "base main screen layout type theme print grid style site fonts reset look colours".split()
SCRIPTS = "app menu stats lazy search core bundle share vendor gallery consent boot toggle".split()
ICONS = ["icon", "shortcut icon", "apple-touch-icon"]
FOLDERS = ["/assets/", "/static/", "/css/", "/_/", "/files/", "/theme/"]
# What each part of a page may be called.
ROLES = {
    "page": "page wrap outer sheet shell frame".split(),
    "head": "masthead top banner header crown roof".split(),
    "menu": "nav menu links sections bar tabs".split(),
    "item": "item entry tab li point".split(),
    "main": "main content story middle primary body".split(),
    "title": "title headline heading name".split(),
    "text": "text par copy prose p line".split(),
    "side": "side aside rail extra box more".split(),
    "foot": "foot footer end bottom imprint colophon".split(),
    "date": "date time stamp when".split(),
    "image": "image figure photo pic plate".split(),
}
# How classes are made of the site's prefix and the part's name.
CLASSES = [
    "{p}-{w}", "{p}_{w}", "{p}__{w}", "{w}--{p}", "{p} {w}", "{w}", "js-{w} {p}_{w}", "{p}:{w}", "l-{w} {p}--{w}",
    "{w}_{p}_v2", "u-{p}-{w}", "{p}.{w}", "{w} {w}-{p}", "_{p}{w}", "{p}/{w}", "{w}@{p}", "{p}--{w}__a",
    "is-{w} is-{p} on", "{w}+{p}", "-{w}", "{p}-{w}_", "{w}__{p}-x", "{p}~{w}", "{w}.{p}.c",
]
# How files in the head are named after the site and their use.
FILES = """{s}-{w} {w}.{s} {s}_{w}.min {w}-{s}.v3 {s}{w} {w}/{s} {s}.{w}.pack _{s}-{w}_ {w}~{s} {s}--{w} dist/{s}/{w}
    {w}_{s}.prod""".split()
# What else stands in the tags of the head, of the menu and of the large parts: templates differ in punctuation too.
LINKED = [
    ("media", "all"), ("type", "text/css"), ("crossorigin", "anonymous"), ("media", "screen, print"), ("data-v", "2.1"),
    ("id", "s-{}"), ("title", ""), ("as", "style"), ("fetchpriority", "low"), ("data-turbo", "track:reload"),
]
ANCHORED = [
    ("class", "a-l"), ("target", "_top"), ("title", "(go)"), ("data-ga", "nav:1"), ("rel", "up"), ("accesskey", "+"),
    ("tabindex", "-1"), ("data-x", "[]"), ("onclick", "t(1)"), ("style", "margin:0"), ("hreflang", "en"),
    ("aria-label", "#"),
]
FURTHER = [
    ("role", "region"), ("data-kind", "text"), ("lang", "en"), ("itemprop", "body"), ("tabindex", "0"),
    ("data-zone", "b"), ("align", "left"), ("title", "read"), ("dir", "ltr"), ("data-t", "1"),
]
OLD = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">'


class Template:
    """How a site's pages look. `plain` templates have small heads, as hastily made sites do."""

    def __init__(self, name, skeleton, quote, classes, plain=False):
        dice = Dice("template " + name)
        self.name, self.skeleton, self.quote, self.classes = name, skeleton, quote, classes
        self.names = {role: dice.one(words) for role, words in ROLES.items()}
        stem = name.split(".")[0].replace("-", "")
        self.prefix = dice.one([stem[:3], stem[0] + stem[-1], stem])
        file, n_max = dice.one(FILES), 1 if plain else 3
        self.styles = [file.format(s=stem, w=word) + ".css" for word in dice.some(STYLES, dice.between(1, n_max))]
        self.scripts = [file.format(s=stem, w=word) + ".js" for word in dice.some(SCRIPTS, dice.between(1, n_max))]
        self.metas = dice.some(METAS, dice.between(2, 3) if plain else dice.between(5, 8))
        self.rels = dice.some(RELS, 1 if plain else dice.between(2, 4))
        self.icon, self.folder = dice.one(ICONS), dice.one(FOLDERS)
        self.ids = dice.some(list(ROLES), dice.between(2, 5))
        self.linked = dice.some(LINKED, dice.between(0, 2))
        self.anchored = dice.some(ANCHORED, dice.between(0, 2))
        self.further = dice.some(FURTHER, 3)
        self.turned = dice.below(2) == 1  # whether attributes of the head stand the other way round
        self.void = dice.one([">", " />", "/>"])
        self.indent = dice.one(["", " ", "  ", "\t"])
        old = skeleton in (skeletons.table, skeletons.bare)
        self.upper = old and dice.below(2) == 0
        self.doctype = OLD if old else dice.one(["<!doctype html>", "<!DOCTYPE html>", ""])

    def page(self, site, title, blocks, language="en", date=""):
        """A whole page: `blocks` are paragraphs, already HTML."""
        body = self.skeleton(self, site, escape(title, quote=False), blocks, date)
        return self.head(title, site.name, language) + body + "\n</html>\n"

    def head(self, title, site_name, language):
        rows = [self.void_tag("meta", ("charset", "utf-8"))]
        rows.append(f"<title>{escape(title, quote=False)} - {escape(site_name, quote=False)}</title>")
        for meta in self.metas:
            content = title if meta in ("description", "og:title") else site_name
            rows.append(self.void_tag("meta", ("property" if ":" in meta else "name", meta), ("content", content)))
        for style in self.styles:
            rows.append(self.void_tag("link", ("rel", "stylesheet"), ("href", self.folder + style), *self.linked))
        rows.append(self.void_tag("link", ("rel", self.icon), ("href", self.folder + self.names["image"] + ".png")))
        rows += [self.void_tag("link", ("rel", rel), ("href", "/" + rel), *self.linked[:1]) for rel in self.rels]
        for script in self.scripts:
            rows.append(self.element("script", None, "", ("src", self.folder + script), *self.linked[1:]))
        inner = "\n".join(self.indent + row for row in rows)
        return f"{self.doctype}\n<html{self.attributes([('lang', language)])}>\n<head>\n{inner}\n</head>\n".lstrip()

    def element(self, name, role, inner, *more):
        """An element; a `role` gives it class, perhaps id, and the attributes that the template has there."""
        pairs = []
        if role:
            pairs.append(("class", self.named(role)))
            if role in self.ids and role not in ("item", "text"):
                pairs.insert(0, ("id", self.names[role]))
            if role == "main":
                pairs.append(self.further[0])
            if role == "text" and self.turned:
                pairs.append(self.further[1])
            if role in ("head", "foot"):
                pairs.append(self.further[2])
        name = name.upper() if self.upper else name
        return f"<{name}{self.attributes(pairs + list(more))}>{inner}</{name}>"

    def void_tag(self, name, *pairs):
        """A tag that has no end, its attributes in the template's order."""
        return f"<{name}{self.attributes(pairs[::-1] if self.turned else pairs)}{self.void}"

    def attributes(self, pairs):
        def one(name, value):
            value = escape(value)
            quote = self.quote or ('"' if set(value) & set(" =") or not value else "")
            return f" {name}={quote}{value}{quote}"

        return "".join(one(name, value) for name, value in pairs)

    def named(self, role):
        return self.classes.format(p=self.prefix, w=self.names[role])

    def link(self, href, text, *more):
        return self.element("a", None, escape(text, quote=False), ("href", href), *more)

    def anchors(self, site):
        """The menu as bare links."""
        return [self.link(href, label, ("class", self.named("item")), *self.anchored[1:]) for label, href in site.menu]

    def menu(self, site, name="li"):
        """The menu as elements `name`."""
        return "".join(self.element(name, "item", self.link(href, label, *self.anchored)) for label, href in site.menu)

    def texts(self, blocks, name="p"):
        return "\n".join(self.element(name, "text", block) for block in blocks)
