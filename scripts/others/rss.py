"""rss-parser reads our feed of news."""

from functools import partial
from pathlib import Path
from typing import Any

import trio

from scripts.others import node
from scripts.others.node import expect
from scripts.others.service import answered, user
from tests.support.process import server_process

VERSION = "3.13.0"

SCRIPT = Path(__file__).with_suffix(".js")

TITLE, SUMMARY = "Islands & <b>bridges</b> ]]> \U0001f600", "Come \"and\" see 'them' & us"


async def rss() -> None:
    """The whole check, with a service of its own.

    Raises:
        NoNode: programs of Node cannot run here.
        Differs: rss-parser found something else than was published.
    """
    await trio.to_thread.run_sync(node.install, f"rss-parser@{VERSION}")
    async with server_process() as server:
        async with await user(server, "Rosa", "super-admin") as rosa:
            body = {
                "scope": {"type": "global"},
                "title": TITLE,
                "summary": SUMMARY,
                "body": "**Welcome**",
                "category": "updates",
                "status": "published",
            }
            article = await answered(rosa.post("/v1/news", json=body))
        feed: Any = await trio.to_thread.run_sync(
            partial(node.run, SCRIPT, f"{server.url}/v1/public/news/rss")
        )
    (item,) = feed["items"]
    expect("the title", item["title"], TITLE)
    expect("what identifies it", item["guid"], f"urn:partyline:news:{article['id']}")
    expect("when it was published", item["isoDate"][:19], article["publishedAt"][:19])
    expect("what it says", SUMMARY in (item["contentSnippet"], item["content"]), expected=True)
