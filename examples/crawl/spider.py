"""A spider that follows every link and hands over every page, with the pipeline that drops what is known.

    scrapy runspider examples/crawl/spider.py -a start=http://start.example/ -O pages.jsonl
"""

import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "ITEM_PIPELINES": {"crawl.pipeline.MirrorPipeline": 900},
        "SEAMRIPPER_LEDGER": "kept.sqlite",
        "COOKIES_ENABLED": False,
        "CLOSESPIDER_PAGECOUNT": 10_000,
    }

    def __init__(self, start, **arguments):
        super().__init__(**arguments)
        self.start_urls = [start]

    def parse(self, response):
        if not isinstance(response, scrapy.http.TextResponse):
            return
        kind = response.headers.get("content-type", b"").decode("latin-1")
        yield {"url": response.url, "html": response.text, "content_type": kind}
        yield from response.follow_all(response.css("a"))
