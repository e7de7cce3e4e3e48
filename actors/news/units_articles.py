"""Write articles: units of work, inside the caller's transaction.

Who may write is asked again here. The audit trail has what is written by `news:write` alone.
"""

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from actors import polls
from actors.change import Change
from actors.errors import Conflict, Invalid, NotFound, QuotaExceeded, RevisionConflict, SlugTaken
from actors.field_errors import FieldError
from actors.news import fields, states
from actors.news.fields import Checked
from actors.news.quota import keep_to_quota
from actors.news.rights import Writer, authorise
from actors.news.states import is_readable
from actors.news.units_publishing import ArticleChanged, settle, tell
from actors.polls import Poll
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.news import articles
from persistence.news import polls as poll_rows
from persistence.news.owned import hold_owner
from persistence.news.rows import ArticleRow, Scope, Status
from persistence.users.audit import write_audit

MOST_OF_SCOPE = {"global": 5_000, "network": 100, "server": 100}
"""{type of scope: how many articles it may have}; the oldest archived ones make room for new ones."""


async def create(conn: Connection, id: str, scope: Scope, wish: Checked, by: Writer) -> Change[ArticleRow]:
    """Store a new article.

    Args:
        id: a fresh objectId.
        wish: the fields, of which title, body and HTML are set.

    Raises:
        NotFound: there is no such network or server, or it is a stranger's.
        Forbidden: the user belongs there and may not write, or the scope is global.
        Invalid: the article is to be scheduled, and its time of publication is missing or past; or its poll would end
            before it appears.
        SlugTaken: another article of the scope has the slug.
        QuotaExceeded: the scope has as many articles as it may have, or those of its owner have as many bytes, and
            none is archived.
    """
    own, now_ms = await authorise(conn, scope, by), by.stamp.at_ms
    author = await require_user(conn, by.user_id)
    if not await articles.hold_scope(conn, scope):
        raise NotFound
    owner_id = await hold_owner(conn, scope)
    most = MOST_OF_SCOPE[scope.type]
    if not await articles.make_room(conn, scope, most):
        raise QuotaExceeded(max=most, message=f"at most {most} articles that are not archived")
    blank = ArticleRow(
        id=id, scope_type=scope.type, scope_id=scope.id, slug="", title="", summary="", body="", body_html="",
        cover_url=None, category=None, tags=(), author_id=author.id, author_name=author.name, locale="en",
        pinned=False, status="draft", visibility="public", publish_at_ms=None, published_at_ms=None,
        created_at_ms=now_ms, updated_at_ms=now_ms, listed_at_ms=now_ms, revision=0, notify=False, poll=None,
    )  # fmt: skip
    row = await _put(conn, blank, wish, now_ms, owner_id)
    await _audit(conn, "news.created", row, by, own=own)
    return _changed(row, now_ms, readable_before=False, published=row.status == "published")


async def change(
    conn: Connection, news_id: str, wish: Checked, by: Writer, *, revision: int | None = None
) -> Change[ArticleRow]:
    """Change an article. Without an effective change nothing is written.

    Args:
        revision: the revision of the article that the writer has changed; None for any.

    Raises:
        RevisionConflict: the article has another revision by now; `meta.revision` names it.
        NotFound: there is no such article, or the user may neither read nor write it.
        Forbidden: the user may read it, or belongs to its scope, and may not write it.
        Conflict: the table of states has no such move, or a field is to change that is fixed since the publication.
        Invalid: the article is to be scheduled, and its time of publication is missing or past; or its poll would end
            before it appears.
        SlugTaken: another article of the scope has the slug.
        QuotaExceeded: the article is to be longer, and its owner's articles have as many bytes as they may have.
    """
    now_ms = by.stamp.at_ms
    seen, own = await authorised(conn, news_id, by)
    if not await articles.hold_scope(conn, seen.scope):
        raise NotFound
    owner_id = await hold_owner(conn, seen.scope) if "body" in wish.columns else None
    stored = await articles.lock(conn, news_id)
    if stored is None:
        raise NotFound
    row = await settle(conn, stored, now_ms)
    if revision not in (None, row.revision):
        raise RevisionConflict(revision=row.revision)
    readable_before = is_readable(row, now_ms)
    after = await _put(conn, row, wish, now_ms, owner_id)
    if after.revision == row.revision:
        return Change(row, (ArticleChanged(row, published=True),) if row != stored else ())
    await _audit(conn, "news.changed", after, by, own=own)
    published = after.published_at_ms is not None and stored.published_at_ms is None
    return _changed(after, now_ms, readable_before=readable_before, published=published)


async def authorised(conn: Connection, news_id: str, by: Writer) -> tuple[ArticleRow, bool]:
    """An article that a user may write, and whether its scope is the user's own.

    Raises:
        NotFound: there is no such article, or the user may neither read nor write it.
        Forbidden: the user may read it, or belongs to its scope, and may not write it.
    """
    row = await articles.read(conn, news_id)
    if row is None:
        raise NotFound
    readable = is_readable(row, by.stamp.at_ms)
    if row.scope_type == "global" and not readable and not by.anywhere:
        raise NotFound
    return row, await authorise(conn, row.scope, by, readable=readable)


async def _put(
    conn: Connection, row: ArticleRow, wish: Checked, now_ms: int, owner_id: str | None
) -> ArticleRow:
    """Store the article as wished, after deciding on its move and on fields that are fixed since the publication.

    Args:
        owner_id: whose articles it counts among where it grows.
    """
    after = replace(row, **wish.columns)
    after = replace(after, slug=await _slug(conn, row, after.title, wish))
    after = _moment(after, row, wish, now_ms)
    status: Status = row.status if wish.status is UNSET else wish.status
    after = states.moved(after, status, now_ms)
    poll = row.poll if wish.poll is UNSET else wish.poll
    if after.status == "scheduled":
        _check_end(poll, after.publish_at_ms)
    elif row.published_at_ms is None:
        _check_end(poll, after.published_at_ms)
    if row.revision and after == row and wish.poll is UNSET:
        return row
    after = replace(after, updated_at_ms=now_ms)
    await keep_to_quota(conn, owner_id, row, after)
    await articles.put(conn, after)
    await _put_poll(conn, row, after, wish, now_ms)
    if after.status == "published" and row.published_at_ms is None:
        await tell(conn, after, now_ms)
    stored = await articles.read(conn, row.id)
    if stored is None:
        raise NotFound
    return stored


async def _slug(conn: Connection, row: ArticleRow, title: str, wish: Checked) -> str:
    scope = row.scope
    if isinstance(wish.slug, str) and wish.slug != row.slug:
        if row.published_at_ms is not None:
            raise Conflict("the slug is fixed once the article was published", status=row.status)
        if await articles.slug_taken(conn, scope, wish.slug):
            raise SlugTaken
        return wish.slug
    if row.slug:
        return row.slug
    slug = fields.slug_of(title)
    if not await articles.slug_taken(conn, scope, slug):
        return slug
    # The id's random part is unique among the articles of a scope for all purposes.
    return f"{slug[: fields.MAX_SLUG_CHARACTERS - 17].rstrip('-')}-{row.id[8:]}"


def _moment(after: ArticleRow, row: ArticleRow, wish: Checked, now_ms: int) -> ArticleRow:
    if wish.publish_at_ms is UNSET or wish.publish_at_ms == row.publish_at_ms:
        return after
    if row.published_at_ms is not None:
        raise Conflict("the moment is fixed once the article was published", status=row.status)
    if wish.publish_at_ms is not None:
        states.check_moment(wish.publish_at_ms, now_ms)
    return replace(after, publish_at_ms=wish.publish_at_ms)


async def _put_poll(conn: Connection, row: ArticleRow, after: ArticleRow, wish: Checked, now_ms: int) -> None:
    if wish.poll is not UNSET:
        if row.published_at_ms is not None:
            raise Conflict("the poll is fixed once the article was published", status=row.status)
        present = await _locked_poll(conn, row.id)
        if present is not None and present.total_voters:
            # Its moment came while this request waited.
            raise Conflict("the poll is fixed once somebody has voted", status="published")
        if wish.poll is None:
            await poll_rows.remove(conn, row.id)
        else:
            await poll_rows.put(conn, row.id, msgspec.json.encode(wish.poll))
    if after.status == "archived" and row.status == "published":
        poll = await _locked_poll(conn, row.id)
        if poll is not None and not polls.at(poll, now_ms).closed:
            shut = polls.closed(poll, at_ms=now_ms, reason="manual")
            await poll_rows.put(conn, row.id, msgspec.json.encode(shut))


async def _locked_poll(conn: Connection, news_id: str) -> Poll | None:
    """The poll of an article, locked before it is read, so that no vote comes between."""
    stored = await poll_rows.lock(conn, news_id)
    return None if stored is None else msgspec.json.decode(stored, type=Poll)


def _check_end(poll: bytes | Poll | None, appears_at_ms: int | None) -> None:
    if isinstance(poll, bytes):
        poll = msgspec.json.decode(poll, type=Poll)
    ends_at_ms = None if poll is None else poll.expires_at_ms
    if ends_at_ms is not None and appears_at_ms is not None and ends_at_ms <= appears_at_ms:
        raise Invalid(
            FieldError("/poll/expiresAtMs", "PAST", "the poll would end before its article appears")
        )


def _changed(row: ArticleRow, now_ms: int, *, readable_before: bool, published: bool) -> Change[ArticleRow]:
    if not readable_before and not is_readable(row, now_ms):
        return Change(row)
    return Change(row, (ArticleChanged(row, published),))


async def _audit(conn: Connection, action: str, row: ArticleRow, by: Writer, *, own: bool) -> None:
    if not own:
        detail = {"scope": row.scope_type, "scopeId": row.scope_id, "status": row.status}
        await write_audit(conn, by.stamp, action, target_id=row.id, detail=msgspec.json.encode(detail))
