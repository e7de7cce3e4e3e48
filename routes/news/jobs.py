"""The jobs of news: publish what is due, notify followers."""

from actors.news import units_publishing
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.news.reactions import Articles
from routes.service import Service

BATCHES_A_RUN = 20
"""How many batches of followers one run notifies; the next one goes on."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs."""

    async def publish() -> None:
        for news_id in await service.database.read(units_publishing.due, service.clock.now_ms()):
            now_ms = service.clock.now_ms()
            await change_by_itself(
                service, units_publishing.publish_due, news_id, now_ms, about=Articles(news_id)
            )

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
        Job("scheduled news", 1, publish),
        Job("notifications of news", 1, notify),
    )
