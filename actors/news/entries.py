"""Articles as frames of the live channel show them: made once for all viewers, and held in memory. Pure."""

import msgspec

from actors.news.public import Article, article_of
from actors.news.states import is_readable
from persistence.news.rows import ArticleRow, FollowRow, Place, Scope


class Entry(msgspec.Struct, frozen=True):
    """An article as frames show it.

    Args:
        place: the article's place in feeds.
        scope: whose news it is.
        follows: whoever follows one of these has the article in their feed.
        readable: whether readers may see it now.
        revision: the article's revision; the later of two changes has the larger one.
        author_id: the author's id; None once they are erased.
        poll_ends_at_ms: when its open poll will close, epoch milliseconds; None without one that will.
        encoded: the JSON of the Article.
    """

    place: Place
    scope: Scope
    follows: frozenset[FollowRow]
    readable: bool
    revision: int
    author_id: str | None
    poll_ends_at_ms: int | None
    encoded: bytes

    @property
    def order(self) -> tuple[bool, int, str]:
        """The key by which feeds are sorted: the greater one comes first."""
        return self.place.pinned, self.place.listed_at_ms, self.place.id

    def concerns(self, followed: frozenset[FollowRow]) -> bool:
        """Whether the article belongs into the feed of a user who follows these things."""
        return self.scope.type == "global" or not self.follows.isdisjoint(followed)

    def without_author(self) -> "Entry":
        """The entry once its author is erased."""
        return self._by(None, None)

    def with_author_named(self, name: str) -> "Entry":
        """The entry once its author has another name."""
        return self._by(self.author_id, name)

    def _by(self, author_id: str | None, author_name: str | None) -> "Entry":
        shown = msgspec.json.decode(self.encoded, type=Article)
        encoded = msgspec.json.encode(
            msgspec.structs.replace(shown, author_id=author_id, author_name=author_name)
        )
        return msgspec.structs.replace(self, author_id=author_id, encoded=encoded)


def entry_of(row: ArticleRow, now_ms: int) -> Entry:
    """The entry of an article at a moment (epoch milliseconds)."""
    shown = article_of(row, now_ms, None, with_texts=False)
    ways = [FollowRow("category", row.category)] if row.category is not None else []
    if row.scope_type != "global":
        ways.append(FollowRow(row.scope_type, row.scope_id))
    return Entry(
        Place(row.pinned_for_all, row.listed_at_ms, row.id),
        row.scope,
        frozenset(ways),
        is_readable(row, now_ms),
        row.revision,
        row.author_id,
        None if shown.poll is None or shown.poll.closed else shown.poll.expires_at_ms,
        msgspec.json.encode(shown),
    )
