"""The bodies that templates have: each function lays the same parts out in another way.

`t` is the template: `t.element(tag, role, inner, *attributes)` gives an element its names, `t.link` an anchor.
"""


def modern(t, site, title, blocks, date):
    e = t.element
    head = e("header", "head", t.link("/", site.name)) + e("nav", "menu", e("ul", None, t.menu(site)))
    story = e("article", None, e("h1", "title", title) + e("time", "date", date) + "\n" + t.texts(blocks))
    return e("body", "page", f"\n{head}\n{e('main', 'main', story)}\n{e('footer', 'foot', e('p', None, site.footer))}")


def divs(t, site, title, blocks, date):
    e = t.element
    head = e("div", "head", e("div", "title", t.link("/", site.name)) + e("div", "date", date))
    story = e("div", "main", f"\n{e('h2', None, title)}\n{t.texts(blocks, 'div')}")
    side = e("div", "side", e("div", "menu", t.menu(site, "div")))
    return e("body", None, e("div", "page", f"\n{head}{story}\n{side}{e('div', 'foot', site.footer)}"))


def table(t, site, title, blocks, date):
    e = t.element
    head = e("tr", None, e("td", "head", e("b", None, site.name), ("colspan", "2")))
    links = "<br>".join(t.link(href, label, *t.anchored) for label, href in site.menu)
    menu = e("td", "menu", links, ("valign", "top"), ("width", "140"))
    texts = "\n".join(e("font", None, block, ("size", "2"), ("face", "Verdana")) + "<br><br>" for block in blocks)
    story = e("td", "main", e("font", "title", title, ("size", "5")) + f"<br>{date}<br>\n{texts}")
    foot = e("tr", None, e("td", "foot", e("small", None, site.footer), ("colspan", "2"), ("bgcolor", "#eeeeee")))
    rows = f"\n{head}\n{e('tr', None, menu + story)}\n{foot}"
    whole = e("table", "page", rows, ("border", "0"), ("cellpadding", "4"), ("width", "100%"))
    return e("body", None, whole, ("bgcolor", "#ffffff"), ("text", "#222222"))


def cards(t, site, title, blocks, date):
    e = t.element
    head = e("div", "head", e("strong", None, site.name) + e("span", "menu", " ".join(t.anchors(site))))
    picture = t.void_tag("img", ("src", "/img/cover.jpg"), ("alt", ""), ("loading", "lazy"), ("width", "640"))
    texts = "\n".join(e("section", "text", e("p", None, block)) for block in blocks)
    story = e("section", "main", e("figure", "image", picture) + e("h1", "title", title) + "\n" + texts)
    foot = e("section", "side", e("em", "date", date)) + e("div", "foot", e("small", None, site.footer))
    return e("body", None, f"\n{head}\n{story}{foot}", ("data-page", t.names["page"]))


def blog(t, site, title, blocks, date):
    e = t.element
    head = e("div", "head", e("h1", None, t.link("/", site.name, ("rel", "home"))))
    heading = e("div", "title", e("h2", None, title) + e("span", "date", date))
    search = t.void_tag("input", ("name", "q"), ("type", "search"), ("placeholder", ""))
    search = e("form", None, search, ("action", "/find"), ("method", "get"))
    side = e("aside", "side", e("ul", "menu", t.menu(site)) + search)
    foot = e("div", "foot", e("p", None, site.footer))
    return e("body", "page", f"{head}\n{e('div', 'main', heading + t.texts(blocks))}\n{side}{foot}")


def wiki(t, site, title, blocks, date):
    e = t.element
    links = "".join(e("dd", "item", t.link(href, label, *t.anchored)) for label, href in site.menu)
    marked = [e("a", None, "", ("name", f"s{n}")) + e("p", "text", block) for n, block in enumerate(blocks, 1)]
    heading = e("h1", "title", title, ("lang", "x")) + e("p", "date", e("i", None, date))
    story = e("div", "main", heading + "\n" + "\n".join(marked))
    foot = e("div", "foot", f"<hr{t.void}" + e("span", None, site.footer))
    whole = e("div", "menu", e("dl", None, links)) + "\n" + story + foot
    return e("body", None, e("div", "page", whole, ("data-skin", t.names["page"])))


def listed(t, site, title, blocks, date):
    e = t.element
    head = e("ol", "menu", t.menu(site)) + e("h1", "title", title) + e("h4", "head", site.name)
    story = e("blockquote", "main", t.texts(blocks) + e("cite", "date", date))
    return e("body", "page", f"{head}\n{story}\n{e('address', 'foot', site.footer)}", ("onload", "init()"))


def columns(t, site, title, blocks, date):
    e, half = t.element, (len(blocks) + 1) // 2
    home = e("a", "title", site.name, ("href", "/"), ("title", t.names["page"]))
    head = e("header", "head", home + e("time", "date", date, ("datetime", date)))
    halves = (blocks[:half], blocks[half:])
    halves = [e("div", None, t.texts(part), ("class", "col"), ("style", "width:50%")) for part in halves]
    story = e("div", "main", e("h1", None, e("span", "title", title)) + "\n" + "\n".join(halves))
    foot = e("nav", "menu", " | ".join(t.anchors(site))) + e("footer", "foot", site.footer)
    return e("body", None, f"{head}\n{story}\n{foot}")


def bare(t, site, title, blocks, date):
    e = t.element
    links = " ~ ".join(t.link(href, label, *t.anchored) for label, href in site.menu)
    story = e("div", "main", "\n".join("<p>" + block for block in blocks))
    foot = f"<hr>{date}<br>\n{e('i', 'foot', site.footer)}"
    whole = f"{e('h3', 'title', title)}\n{e('center', None, links)}<hr>\n{story}{foot}"
    return e("body", None, whole, ("bgcolor", "white"), ("link", "navy"))


SKELETONS = [modern, divs, table, cards, blog, wiki, listed, columns, bare]
