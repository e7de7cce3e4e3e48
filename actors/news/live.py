"""The channel `news`: the first articles of each viewer's feed, and each article when it is published (contract §10).

A view reads its viewer's feed once. What changes afterwards is in memory, encoded once for all whom it concerns; rows
are read again where an article leaves a full list, its network or server is gone, or the viewer follows other things.

Rows are read in the database's thread, which only makes entries of them; what the views share changes in the trio
thread alone. What a view that is being read is about to show is not known yet, so it is told of everything.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import ClassVar, Literal

import msgspec

from actors.kernel.facets import Delta, Forgotten, Rendering
from actors.kernel.kind import Event, Peek, View
from actors.news.entries import Entry, entry_of
from actors.news.public import Article
from actors.news.units_publishing import ArticleChanged
from actors.own_views import owner_only
from persistence.connection import Connection
from persistence.news import follows, listing
from persistence.news.rows import ArticleRow, FollowRow, Scope

NAME = "news"
"""The name of the view and of its channel."""

SHOWN = 20
"""How many articles a snapshot has."""

RECENT_MAX = 200
"""Most changed articles that are in memory; views that are told of older ones read their rows."""

FOLLOWS = "follows"
"""The source of a view whose viewer has changed what they follow."""

_PUBLISHED, _CHANGED, _ERASED, _GONE = "published ", "changed ", "erased ", "gone "
_RENAMED = "renamed "

Marked = tuple[str, Callable[[str], bool]]
"""The source to mark views with, and whether it concerns the view of the user with this id."""


class NewsSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame of the channel: the first 20 articles of the feed, without `body` and `bodyHtml`."""

    type: Literal["news_snapshot"] = "news_snapshot"
    items: tuple[Article, ...]


class NewsPublished(msgspec.Struct, frozen=True):
    """The data of `news_published`: an article of the feed, published just now; without `body` and `bodyHtml`.

    Args:
        article: the article, as lists show it.
    """

    article: Article


class NewsState(msgspec.Struct, frozen=True):
    """The beginning of one user's feed.

    Args:
        follows: what the user follows.
        items: the first articles of their feed, in order.
    """

    user_id: str
    follows: frozenset[FollowRow]
    items: tuple[Entry, ...]


class Published(Event, frozen=True):
    """An article of the feed was published."""

    news_id: str


class Altered(Event, frozen=True):
    """The feed has changed otherwise than by a publication.

    No event on the wire tells how, so it has no offset: a client that comes back after it is sent a snapshot.
    """

    journaled: ClassVar[bool] = False


class NewsLive:
    """The views of news, and the changed articles that they share.

    Args:
        now_ms: returns epoch milliseconds.

    Attributes:
        view: the view that the channel shows.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        # {article: its newest entry}, the longest unchanged first
        self._recent: OrderedDict[str, Entry] = OrderedDict()
        # {whose articles are or were shown: the name by which they went since, None where it is the one of the rows}
        self._authors: dict[str, str | None] = {}
        # articles whose polls have had votes since the last call of `voted`
        self._voted: set[str] = set()
        # {article that is or was shown: when its poll will close, epoch milliseconds}
        self._open: dict[str, int] = {}
        # {viewer: what they see}, without those whose feed is being read
        self._watching: dict[str, NewsState] = {}
        self.view: View[NewsState] = View(
            name=NAME,
            load=self._load,
            reread=self._reread,
            take=self._take,
            absorb=_absorb,
            adopt=self._adopt,
            release=self._release,
            events=self._events,
            differing=_differing,
            rendering=Rendering(audience=owner_only, render=_snapshot, render_event=self._delta),
        )

    def changed(self, event: ArticleChanged) -> Marked:
        """Take in an article that has changed; returns the source to mark views with, and which viewers it concerns.

        Called in the trio thread, after the commit; of two changes the later one may be told first.
        """
        entry = entry_of(event.row, self._now_ms())
        self._note(entry)
        before = self._recent.get(event.row.id, entry)
        self._recent[event.row.id] = entry if before.revision <= entry.revision else before
        self._recent.move_to_end(event.row.id)
        if len(self._recent) > RECENT_MAX:
            self._recent.popitem(last=False)

        def concerns(user_id: str) -> bool:
            # Of a view that is being read it is not known yet what its viewer follows.
            seen = self._watching.get(user_id)
            return seen is None or entry.concerns(seen.follows) or before.concerns(seen.follows)

        return (_PUBLISHED if event.published else _CHANGED) + event.row.id, concerns

    def count(self, news_id: str) -> None:
        """Note that the counts of an article's poll have changed; called in the trio thread, after the commit."""
        if self._watching:
            self._voted.add(news_id)

    def voted(self, most: int) -> list[str]:
        """Take the ids of articles, `most` at most, whose counts have changed or whose polls have closed since they
        were last taken."""
        now_ms = self._now_ms()
        for news_id in [id for id, ends_at_ms in self._open.items() if ends_at_ms <= now_ms]:
            del self._open[news_id]
            self._voted.add(news_id)
        return [self._voted.pop() for _ in range(min(most, len(self._voted)))]

    def counted(self, row: ArticleRow) -> Marked:
        """Take in an article with the counts that its poll has now; returns the source to mark views with, and which
        viewers see it. Called in the trio thread."""
        source, _ = self.changed(ArticleChanged(row, published=False))
        return source, self._showing(lambda entry: entry.place.id == row.id)

    def follows_changed(self, user_id: str) -> None:
        """Forget what a user follows until their view has read it again; called in the trio thread after the commit."""
        self._watching.pop(user_id, None)

    def erased(self, user_id: str) -> Marked:
        """Remove an erased user's name from their articles; returns the source to mark views with, and which viewers
        see any of these. Called in the trio thread, after the commit."""
        concerns = self._showing_articles_of(user_id)
        if user_id in self._authors:
            del self._authors[user_id]
            for id, entry in self._recent.items():
                if entry.author_id == user_id:
                    self._recent[id] = entry.without_author()
        return _ERASED + user_id, concerns

    def renamed(self, user_id: str, name: str) -> Marked:
        """Show the articles of a user under their new name; returns the source to mark views with, and which viewers
        see any of these. Called in the trio thread, after the commit."""
        if user_id in self._authors:
            self._authors[user_id] = name
            for id, entry in self._recent.items():
                if entry.author_id == user_id:
                    self._recent[id] = entry.with_author_named(name)
        return _RENAMED + user_id, self._showing_articles_of(user_id)

    def gone(self, scopes: Iterable[Scope]) -> list[Marked]:
        """Forget the articles of networks and servers that are no more; for each, returns the source to mark views
        with, and which viewers see an article of it or follow it.

        Called in the trio thread, after the commit.
        """
        lost = frozenset(scopes)
        for id in [id for id, entry in self._recent.items() if entry.scope in lost]:
            del self._recent[id]
        return [self._parted(scope) for scope in lost]

    def _parted(self, scope: Scope) -> Marked:
        source = f"{_GONE}{scope.id}"

        def concerns(user_id: str) -> bool:
            seen = self._watching.get(user_id)
            return seen is None or _names(seen, source)

        return source, concerns

    def _showing_articles_of(self, user_id: str) -> Callable[[str], bool]:
        """Whether a viewer sees articles of a user; most users have none, for whom no feed is looked through."""
        if user_id in self._authors:
            return self._showing(lambda entry: entry.author_id == user_id)
        return lambda viewer_id: viewer_id not in self._watching

    def _showing(self, shows: Callable[[Entry], bool]) -> Callable[[str], bool]:
        """Whether a viewer sees an entry of which this holds; True also where that is not known yet."""

        def concerns(user_id: str) -> bool:
            seen = self._watching.get(user_id)
            return seen is None or any(map(shows, seen.items))

        return concerns

    async def _load(self, conn: Connection, user_id: str) -> NewsState:
        now_ms = self._now_ms()
        rows = await listing.feed_heads(conn, user_id, SHOWN, now_ms=now_ms)
        followed = await follows.of_user(conn, user_id)
        return NewsState(user_id, frozenset(followed), tuple(entry_of(row, now_ms) for row in rows))

    async def _reread(self, conn: Connection, user_id: str, _sources: AbstractSet[str]) -> NewsState:
        return await self._load(conn, user_id)

    def _take(
        self, state: NewsState, sources: AbstractSet[str], _peek: Peek
    ) -> tuple[NewsState, AbstractSet[str]]:
        after, unknown = self._taken(state, sources)
        if unknown:  # it is read from now on
            self._watching.pop(state.user_id, None)
        return after, unknown

    def _taken(self, state: NewsState, sources: AbstractSet[str]) -> tuple[NewsState, AbstractSet[str]]:
        for source in sources:
            if source.startswith((_ERASED, _GONE)):
                if _names(state, source):
                    return state, sources
                continue
            if source.startswith(_RENAMED):
                named = self._named_anew(state, source.removeprefix(_RENAMED))
                if named is None:
                    return state, sources
                state = named
                continue
            entry = self._recent.get(source.rpartition(" ")[2])
            if source == FOLLOWS or entry is None:
                return state, sources
            others = tuple(one for one in state.items if one.place.id != entry.place.id)
            stays = entry.readable and entry.concerns(state.follows)
            leaves = len(others) < len(state.items) == SHOWN
            if leaves and (not stays or entry.order < others[-1].order):
                return state, sources
            if stays:
                others = tuple(sorted((*others, entry), key=attrgetter("order"), reverse=True))[:SHOWN]
            state = msgspec.structs.replace(state, items=others)
        return state, frozenset()

    def _named_anew(self, state: NewsState, user_id: str) -> NewsState | None:
        """The state with a user's new name; None where it was read before and the name has to be read."""
        if all(one.author_id != user_id for one in state.items):
            return state
        name = self._authors.get(user_id)
        if name is None:
            return None
        items = tuple(one.with_author_named(name) if one.author_id == user_id else one for one in state.items)
        return msgspec.structs.replace(state, items=items)

    def _note(self, entry: Entry) -> None:
        """Remember of an entry that views show what they are to be told of later."""
        if entry.author_id is not None:
            self._authors.setdefault(entry.author_id)
        if entry.poll_ends_at_ms is not None:
            self._open[entry.place.id] = entry.poll_ends_at_ms

    def _adopt(self, before: NewsState | None, state: NewsState) -> NewsState:
        self._watching[state.user_id] = state
        if before is None or before.items is not state.items:
            for entry in state.items:
                self._note(entry)
        return state

    def _release(self, state: NewsState) -> None:
        self._watching.pop(state.user_id, None)

    def _events(
        self, before: NewsState, after: NewsState, sources: Collection[str]
    ) -> Sequence[Published | Altered]:
        ids = [source.removeprefix(_PUBLISHED) for source in sources if source.startswith(_PUBLISHED)]
        told: list[Published | Altered] = [Published(id) for id in ids if self._announces(after, id)]
        were, stay = (_without(ids, state.items) for state in (before, after))
        if stay != were[: SHOWN - (len(after.items) - len(stay))]:
            told.append(Altered())
        return told

    def _announces(self, state: NewsState, id: str) -> bool:
        """Whether a viewer is told of a published article; also of one that is no longer in memory."""
        entry = self._recent.get(id)
        return entry is None or (entry.readable and entry.concerns(state.follows))

    def _delta(self, state: NewsState, event: Published | Altered, _audience: None) -> Delta | None:
        if isinstance(event, Altered) or not self._announces(state, event.news_id):
            return None
        entry = self._recent.get(event.news_id)
        if entry is None:
            raise Forgotten
        return Delta("news_published", msgspec.Raw(b'{"article":' + entry.encoded + b"}"))


def _differing(shown: NewsState, stored: NewsState) -> Collection[str]:
    """The source of the feed, and those of articles that it has got at its front."""
    if (shown.follows, shown.items) == (stored.follows, stored.items):
        return ()
    known = {one.place.id for one in shown.items}
    newest_ms = max((one.place.listed_at_ms for one in shown.items), default=0)
    added = [one for one in stored.items if one.place.id not in known and one.place.listed_at_ms > newest_ms]
    return [FOLLOWS, *(_PUBLISHED + one.place.id for one in added if shown.follows == stored.follows)]


def _names(state: NewsState, source: str) -> bool:
    """Whether a feed shows an article of the user who is erased, or of the network or server that is gone."""
    if source.startswith(_ERASED):
        return any(one.author_id == source.removeprefix(_ERASED) for one in state.items)
    id = source.removeprefix(_GONE)
    return any(one.scope.id == id for one in state.items) or any(one.id == id for one in state.follows)


def _without(ids: Collection[str], items: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(one for one in items if one.place.id not in ids)


def _snapshot(state: NewsState, _audience: None) -> msgspec.Raw:
    """A `NewsSnapshot`."""
    items = b",".join(entry.encoded for entry in state.items)
    return msgspec.Raw(b'{"type":"news_snapshot","items":[' + items + b"]}")


def _absorb(_state: NewsState, found: NewsState) -> NewsState:
    return found
