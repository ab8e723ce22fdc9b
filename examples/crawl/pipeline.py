"""A Scrapy item pipeline that drops the pages which the filter knows: mirrors, and pages that have not changed.

    ITEM_PIPELINES = {"crawl.pipeline.MirrorPipeline": 900}      # after those that clean and drop, before those that store
    SEAMRIPPER_LEDGER = "kept.sqlite"                            # what was stored, also for the next crawl

An item has `url` and the page as `html` (text) or `body` (bytes), with `content_type` and `ip` if they are known; one without is
passed on. What the filter says is put on the item, if it has a field of that name: `canonical` (the stored page that says the
same), and `seamripper` (the reason, and what it rests on). A dropped item carries them too: `item_dropped` gets it.

Never loses a page: with the filter away, busy or slow an item is kept, and so is one whose original was not stored by this
crawler (`crawl.decision`). Only what has passed all pipelines (`item_scraped`) enters the ledger; a copy that comes while its
original is still on its way waits for it.

Settings, all optional: SEAMRIPPER_FILTER (http://127.0.0.1:8470), SEAMRIPPER_TOKEN_FILE (seamripper-data/http-token),
SEAMRIPPER_LEDGER (memory: one crawl), SEAMRIPPER_CONCURRENCY (8 pages at once), SEAMRIPPER_TIMEOUT (10 seconds).
Needs Scrapy 2.14 or newer on asyncio, its default.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from client import Filter, page
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem

from .decision import Decision, Ledger, decided

#: A larger page is kept unasked.
PAGE_BYTES_MAX = 8 << 20


class MirrorPipeline:
    def __init__(self, crawler):
        settings = crawler.settings
        self.timeout_s = settings.getfloat("SEAMRIPPER_TIMEOUT", 10)
        self.filter = Filter(settings.get("SEAMRIPPER_FILTER"), settings.get("SEAMRIPPER_TOKEN_FILE"), self.timeout_s)
        self.pool = ThreadPoolExecutor(settings.getint("SEAMRIPPER_CONCURRENCY", 8), "seamripper")
        self.ledger = Ledger(settings.get("SEAMRIPPER_LEDGER", ":memory:"))
        self.stats = crawler.stats
        # Pages between here and the store, and who waits for them.
        self.underway: dict[str, asyncio.Future] = {}
        crawler.signals.connect(self.stored, signals.item_scraped)
        for lost in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.lost, lost)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def process_item(self, item):
        fields = ItemAdapter(item)
        url, body = fields.get("url"), fields.get("html") or fields.get("body")
        if not url or not body:
            return item
        if len(body) > PAGE_BYTES_MAX:
            return self.kept(fields, Decision(True, "unasked", f"has more than {PAGE_BYTES_MAX} bytes"))
        loop = asyncio.get_running_loop()
        self.underway.setdefault(url, loop.create_future())
        facts = {"content_type": fields.get("content_type"), "ip": fields.get("ip")}
        answer = await loop.run_in_executor(self.pool, lambda: self.filter.check(page(url, body, **facts), learn=True))
        decision = decided(url, answer, self.ledger)
        if decision.reason == "unstored":
            mirror = (answer.verdict or {}).get("mirror") or {}
            await self.settled(mirror.get("canonical"), url)
            decision = decided(url, answer, self.ledger)
        if decision.keep:
            return self.kept(fields, decision)
        self.tell(fields, decision)
        raise DropItem(f"{decision.reason}: {decision.detail}")

    async def settled(self, canonical, url) -> None:
        """Waits for a page that is on its way to the store, not for ever, and never for itself."""
        if canonical != url and (ahead := self.underway.get(canonical)):
            await asyncio.wait([ahead], timeout=self.timeout_s)

    def kept(self, fields, decision):
        self.tell(fields, decision)
        return fields.item

    def tell(self, fields, decision) -> None:
        self.stats.inc_value(f"seamripper/{'kept' if decision.keep else 'dropped'}/{decision.reason}")
        for name, value in (("canonical", decision.canonical), ("seamripper", f"{decision.reason}: {decision.detail}".rstrip(": "))):
            if value and (isinstance(fields.item, dict) or name in fields.field_names()):
                fields[name] = value

    def stored(self, item) -> None:
        url = ItemAdapter(item).get("url")
        if url in self.underway:
            self.ledger.add({url: ""})
        self.lost(item)

    def lost(self, item) -> None:
        ahead = self.underway.pop(ItemAdapter(item).get("url"), None)
        if ahead and not ahead.done():
            ahead.set_result(None)

    def close_spider(self):
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.ledger.close()
