"""Articles as clients see them (contract §10)."""

from collections.abc import Collection
from typing import Literal

import msgspec

from actors import polls
from actors.ids import ObjectId
from actors.news.states import settled
from actors.polls import Poll
from actors.time import iso, iso_or_none
from persistence.news.rows import ArticleRow, FollowType, ScopeType, Status, Visibility


class ArticleScope(msgspec.Struct, frozen=True):
    """Whose news it is; `id` is null where it is global.

    Args:
        type: for whom it is: everybody, or those who follow a network or a server.
        id: the network's or server's id; null for `global`.
    """

    type: ScopeType
    id: str | None


class Article(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One article.

    Args:
        title: the headline.
        summary: a sentence or two for lists.
        body: Markdown as it was written; null in frames of live sockets, as `bodyHtml` is.
        body_format: the language of `body`: always Markdown.
        body_html: rendered and sanitised: safe to be shown as it is.
        cover_url: a picture's address; null without one.
        category: the category it is listed under; null for none.
        tags: words it is found by.
        author_id, author_name: the author; null once they are erased.
        locale: the language, as a BCP 47 tag.
        pinned: whether it stands first in lists.
        status: only `published` articles are public.
        visibility: `public`, or only for users who are signed in.
        publish_at: the moment for which it is or was scheduled, or null.
        published_at: the first publication, or null.
        revision: rises with each change of the article itself, and not with votes.
        poll: with the caller's own `selected`, which public lists and frames of live sockets leave out.
    """

    id: ObjectId
    slug: str
    title: str
    summary: str
    body: str | None
    body_format: Literal["markdown"] = "markdown"
    body_html: str | None
    cover_url: str | None
    category: str | None
    tags: tuple[str, ...]
    scope: ArticleScope
    author_id: str | None
    author_name: str | None
    locale: str
    pinned: bool
    status: Status
    visibility: Visibility
    publish_at: str | None
    published_at: str | None
    created_at: str
    updated_at: str
    revision: int
    poll: Poll | None


class Follow(msgspec.Struct, frozen=True):
    """One thing that a user follows: a network or server by its id, or a category by its name.

    Args:
        type: what is followed.
        id: the network's or server's id, or the category.
    """

    type: FollowType
    id: str


def article_of(
    row: ArticleRow, now_ms: int, choice: Collection[str] | None, *, with_texts: bool = True
) -> Article:
    """The article as one viewer sees it.

    Args:
        row: the stored article.
        now_ms: epoch milliseconds; a scheduled article whose moment has come is shown as published.
        choice: ids of the options that the viewer has chosen; None for viewers who are not shown choices.
        with_texts: whether it has `body` and `bodyHtml`.
    """
    row = settled(row, now_ms)
    return Article(
        id=ObjectId(row.id),
        slug=row.slug,
        title=row.title,
        summary=row.summary,
        body=row.body if with_texts else None,
        body_html=row.body_html if with_texts else None,
        cover_url=row.cover_url,
        category=row.category,
        tags=row.tags,
        scope=ArticleScope(row.scope_type, row.scope_id or None),
        author_id=row.author_id,
        author_name=row.author_name,
        locale=row.locale,
        pinned=row.pinned,
        status=row.status,
        visibility=row.visibility,
        publish_at=iso_or_none(row.publish_at_ms),
        published_at=iso_or_none(row.published_at_ms),
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
        revision=row.revision,
        poll=None if row.poll is None else _poll(row.poll, now_ms, choice),
    )


def _poll(stored: bytes, now_ms: int, choice: Collection[str] | None) -> Poll:
    poll = polls.at(msgspec.json.decode(stored, type=Poll), now_ms)
    return polls.without_choice(poll) if choice is None else polls.with_choice(poll, choice)
