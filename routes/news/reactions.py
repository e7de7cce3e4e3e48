"""The reactions of the live views to committed articles and follows, also after an unknown outcome."""

from collections.abc import Sequence

import msgspec

from actors.news.live import FOLLOWS
from actors.news.units_follows import FollowsChanged
from actors.news.units_publishing import ArticleChanged
from actors.users.events import UserErased
from persistence.news import articles
from routes.changes import Reaction, Reconciliation
from routes.news.parts import NEWS_LIVE
from routes.service import Service


class Articles(msgspec.Struct, frozen=True):
    """Articles whose change has an unknown outcome.

    Args:
        news_id: of the one that a client writes, or "" for those that are due.
    """

    news_id: str = ""


def _changed(service: Service, event: ArticleChanged) -> None:
    live = service.of(NEWS_LIVE)
    source, concerns = live.changed(event)
    service.system.touched_if(live.view.name, concerns, source)


def _follows(service: Service, event: FollowsChanged) -> None:
    live = service.of(NEWS_LIVE)
    live.follows_changed(event.user_id)
    service.system.changed(live.view, event.user_id, FOLLOWS)


def _erased(service: Service, event: UserErased) -> None:
    live = service.of(NEWS_LIVE)
    source = live.erased(event.user_id)
    if source is not None:
        service.system.touched_if(live.view.name, lambda _: True, source)


async def _ask(service: Service, about: Articles, happened: Sequence[object]) -> Sequence[object]:
    told = {event.row.id: event for event in happened if isinstance(event, ArticleChanged)}
    rows = await service.database.read(articles.read_all, {about.news_id, *told} - {""})
    return [ArticleChanged(row, row.id in told and told[row.id].published) for row in rows]


REACTIONS = (
    Reaction(ArticleChanged, _changed),
    Reaction(FollowsChanged, _follows),
    Reaction(UserErased, _erased),
)
RECONCILIATIONS = (Reconciliation(Articles, _ask),)
