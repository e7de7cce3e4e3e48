"""The jobs of news: publish what is due, notify followers."""

from functools import partial

from actors.news import units_publishing
from routes.changes import change_by_itself
from routes.jobs import Job, OneOfMany
from routes.news.reactions import Articles, tell_counts
from routes.service import Service

COUNTED_EVERY_SECONDS = 10
"""How often the counts of polls that have had votes, or have closed, are shown live: for each of these, viewers are
sent a snapshot."""

BATCHES_A_RUN = 20
"""How many batches of followers one run notifies; the next one goes on."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: publish what is due, notify followers, and show the counts of polls."""

    async def publish() -> bool:
        while True:
            news_ids = await service.database.read(units_publishing.due, service.clock.now_ms())
            published = False
            for news_id in news_ids:
                now_ms, about = service.clock.now_ms(), Articles(news_id)
                unit = units_publishing.publish_due
                with OneOfMany("publishing an article", news_id):
                    published |= await change_by_itself(service, unit, news_id, now_ms, about=about)
            if len(news_ids) < units_publishing.DUE_AT_ONCE or not published:
                return len(news_ids) < units_publishing.DUE_AT_ONCE

    async def notify() -> bool:
        for _ in range(BATCHES_A_RUN):
            more = await change_by_itself(
                service,
                units_publishing.notify_next,
                service.random_bytes,
                service.clock.now_ms(),
                about="followers of news",
            )
            if not more:
                return True
        return False

    return (
        Job("scheduled news", 1, publish, one_node=True),
        Job("notifications of news", 1, notify, one_node=True),
        Job("counts of polls of news", COUNTED_EVERY_SECONDS, partial(tell_counts, service)),
    )
