"""The jobs of news: publish what is due, notify followers."""

from functools import partial

from actors.news import units_publishing
from persistence.news import announcements, articles
from persistence.news.announcements import Waiting
from persistence.news.articles import Due
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.news.reactions import Articles, tell_counts
from routes.pruning import EachOf, Pruning
from routes.service import Service

COUNTED_EVERY_SECONDS = 10
"""How often the counts of polls that have had votes, or have closed, are shown live: for each of these, viewers are
sent a snapshot."""

DUE_AT_ONCE = 100
"""Most due articles that are read at once."""

ANNOUNCED_AT_ONCE = 10
"""Most articles to announce that are read at once."""

BATCHES_IN_TURN = 20
"""How many batches of its followers are notified of one article, before it is the turn of the next."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: publish what is due, notify followers, and show the counts of polls."""
    clock, database = service.clock, service.database

    async def due(after: Due | None, limit: int) -> list[Due]:
        return await database.read(partial(articles.due, now_ms=clock.now_ms(), limit=limit), after)

    async def publish(one: Due) -> None:
        unit, about = units_publishing.publish_due, Articles(one.news_id)
        await change_by_itself(service, unit, one.news_id, clock.now_ms(), about=about)

    async def waiting(after: Waiting | None, limit: int) -> list[Waiting]:
        return await database.read(announcements.waiting, after, limit)

    async def notify(one: Waiting) -> None:
        unit, new_bytes = units_publishing.notify_next, service.random_bytes
        for _ in range(BATCHES_IN_TURN):
            about = f"followers of news {one.news_id}"
            if not await change_by_itself(service, unit, one.news_id, new_bytes, clock.now_ms(), about=about):
                return

    publishing = EachOf(due, publish, doing="publishing an article", about=lambda one: one.news_id)
    notifying = EachOf(waiting, notify, doing="announcing an article", about=lambda one: one.news_id)
    return (
        Job("scheduled news", 1, Pruning(publishing.take, most=DUE_AT_ONCE).run, one_node=True),
        Job("notifications of news", 1, Pruning(notifying.take, most=ANNOUNCED_AT_ONCE).run, one_node=True),
        Job("counts of polls of news", COUNTED_EVERY_SECONDS, partial(tell_counts, service)),
    )
