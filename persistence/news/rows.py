"""The rows of the tables of news, as structs."""

from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Row

ScopeType: TypeAlias = Literal["global", "network", "server"]
Status: TypeAlias = Literal["draft", "scheduled", "published", "archived"]
Visibility: TypeAlias = Literal["public", "authenticated"]
FollowType: TypeAlias = Literal["network", "server", "category"]


class Scope(msgspec.Struct, frozen=True):
    """The scope of an article: everybody, a network, or a game server.

    Args:
        type: `global` for everybody's news, `network` or `server`.
        id: the network's or server's id; "" for `global`.
    """

    type: ScopeType
    id: str = ""


class ArticleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One article.

    Args:
        id: objectId.
        slug: unique within the scope.
        body: Markdown.
        body_html: the body as it was rendered to HTML.
        cover_url, category: None for an article without.
        author_id, author_name: the author's id and name; None once they are erased.
        locale: a language tag (BCP 47).
        publish_at_ms: when it is scheduled to be published, epoch milliseconds, or None.
        published_at_ms: when it was first published, epoch milliseconds; None before.
        listed_at_ms: the time by which lists are sorted, epoch milliseconds.
        revision: rises with each change.
        notify: whether followers are notified when it is published.
        poll: its poll as encoded JSON, or None.
    """

    id: str
    scope_type: ScopeType
    scope_id: str
    slug: str
    title: str
    summary: str
    body: str
    body_html: str
    cover_url: str | None
    category: str | None
    tags: tuple[str, ...]
    author_id: str | None
    author_name: str | None
    locale: str
    pinned: bool
    status: Status
    visibility: Visibility
    publish_at_ms: int | None
    published_at_ms: int | None
    created_at_ms: int
    updated_at_ms: int
    listed_at_ms: int
    revision: int
    notify: bool
    poll: bytes | None

    @property
    def size_bytes(self) -> int:
        """Bytes of its text and its HTML in UTF-8."""
        return len(self.body.encode()) + len(self.body_html.encode())

    @property
    def scope(self) -> Scope:
        """The article's scope."""
        return Scope(self.scope_type, self.scope_id)

    @property
    def pinned_for_all(self) -> bool:
        """Whether the article is pinned in lists of more than its own scope too."""
        return self.pinned and self.scope_type == "global"


HEADS = ", ".join(
    f"'' AS {name}" if name in {"body", "body_html"} else f"news.{name}"
    for name in ArticleRow.__struct_fields__
)
"""The columns of an article with empty texts, for lists that need only some hundred bytes of each."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """An article's position in a list: pinned ones first, then the newest."""

    pinned: bool
    listed_at_ms: int
    id: str


class FollowRow(msgspec.Struct, frozen=True):
    """One thing that a user follows."""

    type: FollowType
    id: str


def article_of(row: Row) -> ArticleRow:
    """The article in a row of the view `news`."""
    values = {name: row[name] for name in ArticleRow.__struct_fields__}
    return ArticleRow(**{**values, "tags": tuple(values["tags"])})
