"""The reactions of the live views to committed articles and follows, also after an unknown outcome."""

from collections.abc import Sequence

import msgspec

from actors.connect.events import ServerNews, ServerRemoved
from actors.networks.units_removal import NetworkRemoved
from actors.news.live import FOLLOWS, Marked
from actors.news.units_follows import FollowsChanged
from actors.news.units_publishing import ArticleChanged
from actors.news.units_votes import PollVoted
from actors.users.events import UserErased
from persistence.errors import PersistenceError
from persistence.news import articles
from persistence.news.rows import Scope
from routes.changes import Reaction, Reconciliation
from routes.connect.parts import GAME_SERVERS
from routes.jobs import BackgroundTask, Job
from routes.news.parts import NEWS_LIVE
from routes.service import Service
from routes.users.parts import USER_DIRECTORY

COUNTED_AT_ONCE = 100
"""How many polls' counts one query reads."""


class Articles(msgspec.Struct, frozen=True):
    """Reconciliation subject: articles whose change has an unknown outcome.

    Args:
        news_id: the article that a client was writing, or "" for those that were due.
    """

    news_id: str = ""


def _changed(service: Service, event: ArticleChanged) -> None:
    _mark(service, service.of(NEWS_LIVE).changed(event))


def _follows(service: Service, event: FollowsChanged) -> None:
    live = service.of(NEWS_LIVE)
    live.follows_changed(event.user_id)
    service.system.changed(live.view, event.user_id, FOLLOWS)


def _erased(service: Service, event: UserErased) -> None:
    _mark(service, service.of(NEWS_LIVE).erased(event.user_id))


def _network_gone(service: Service, event: NetworkRemoved) -> None:
    for marked in service.of(NEWS_LIVE).gone([Scope("network", event.network_id)]):
        _mark(service, marked)


def _mark(service: Service, marked: Marked) -> None:
    source, concerns = marked
    service.system.touched_if(service.of(NEWS_LIVE).view.name, concerns, source)


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to the removal of game servers, whose news go too, and to renames of authors; there are no tasks."""

    def heard(server_id: str, event: ServerNews) -> None:
        if isinstance(event, ServerRemoved):
            for marked in service.of(NEWS_LIVE).gone([Scope("server", server_id)]):
                _mark(service, marked)

    def renamed(user_id: str, name: str) -> None:
        _mark(service, service.of(NEWS_LIVE).renamed(user_id, name))

    service.of(GAME_SERVERS).news.append(heard)
    service.of(USER_DIRECTORY).on_rename(renamed)
    return ()


def _voted(service: Service, event: PollVoted) -> None:
    service.of(NEWS_LIVE).count(event.news_id)


async def tell_counts(service: Service) -> None:
    """Show new counts of polls, and that polls have closed, to the viewers of these.

    Raises:
        PersistenceError: the rows cannot be read; the next call tries again.
    """
    live = service.of(NEWS_LIVE)
    while news_ids := live.voted(COUNTED_AT_ONCE):
        try:
            rows = await service.database.read(articles.read_heads, news_ids)
        except PersistenceError:
            for news_id in news_ids:
                live.count(news_id)
            raise
        for row in rows:
            _mark(service, live.counted(row))


async def _ask(service: Service, about: Articles, happened: Sequence[object]) -> Sequence[object]:
    told = {event.row.id: event for event in happened if isinstance(event, ArticleChanged)}
    rows = await service.database.read(articles.read_all, {about.news_id, *told} - {""})
    return [ArticleChanged(row, row.id in told and told[row.id].published) for row in rows]


REACTIONS = (
    Reaction(ArticleChanged, _changed),
    Reaction(FollowsChanged, _follows),
    Reaction(UserErased, _erased),
    Reaction(NetworkRemoved, _network_gone),
    Reaction(PollVoted, _voted),
)
RECONCILIATIONS = (Reconciliation(Articles, _ask),)
