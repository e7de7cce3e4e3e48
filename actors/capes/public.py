"""Capes as one viewer sees them: with whether they wear it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from actors.change import Change
from actors.errors import NotFound
from persistence.capes import catalog
from persistence.capes.choices import Selection, read_selection, read_worn
from persistence.capes.rows import Cape, CapeStatus, read_cape
from persistence.connection import Connection


@dataclass(frozen=True, slots=True)
class ShownCape:
    """A cape, and who looks.

    Args:
        mine: it is the viewer's.
        selected: the viewer wears it.
    """

    cape: Cape
    mine: bool
    selected: bool


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of capes, and how many there are in all."""

    capes: list[ShownCape]
    total: int


async def changed(
    conn: Connection, unit: Callable[[Connection], Awaitable[Change[Cape]]], viewer_id: str
) -> Change[ShownCape]:
    """Make a change, and show the cape to whoever made it; raises what the unit raises."""
    change = await unit(conn)
    shown = _shown(change.value, viewer_id, await read_selection(conn, viewer_id))
    return Change(shown, change.events)


async def find_owned(conn: Connection, id: str, owner_id: str) -> ShownCape:
    """A user's own cape, in any state.

    Raises:
        NotFound: no such cape of theirs.
    """
    cape = await read_cape(conn, id)
    if cape is None or cape.owner_id != owner_id:
        raise NotFound("no such cape")
    return _shown(cape, owner_id, await read_selection(conn, owner_id))


async def find_approved(conn: Connection, id: str) -> ShownCape:
    """A cape for everybody.

    Raises:
        NotFound: no such cape, or it is not approved.
    """
    cape = await read_cape(conn, id)
    if cape is None or cape.status != "approved":
        raise NotFound("no such cape")
    return anonymous(cape)


async def find_worn(conn: Connection, user_id: str) -> tuple[ShownCape, Selection] | None:
    """What everybody sees a user wear: an approved cape of ours, or None."""
    worn = await read_worn(conn, user_id)
    if worn is None:
        return None
    cape, chosen_at_ms = worn
    return ShownCape(cape, mine=False, selected=True), Selection("native", cape.id, chosen_at_ms)


async def page_approved(conn: Connection, query: str, limit: int, offset: int) -> ShownPage:
    """The public catalog, or what a search finds in it.

    Args:
        query: a substring of name, description or creator, in any case; "" = all.
    """
    if query:
        listed = await catalog.search_approved(conn, query, limit, offset)
    else:
        listed = await catalog.list_approved(conn, limit, offset)
    return ShownPage([anonymous(cape) for cape in listed.capes], listed.total)


async def page_owned(conn: Connection, owner_id: str, limit: int, offset: int) -> ShownPage:
    """A user's own capes, newest first.

    The page has at most `limit` capes and skips the first `offset`.
    """
    return await _page(conn, await catalog.list_owned(conn, owner_id, limit, offset), owner_id)


async def page_all(
    conn: Connection, viewer_id: str, status: CapeStatus | None, limit: int, offset: int
) -> ShownPage:
    """Everybody's capes, for moderators; `status` None = all."""
    return await _page(conn, await catalog.list_all(conn, status, limit, offset), viewer_id)


def anonymous(cape: Cape) -> ShownCape:
    """A cape as somebody without a name sees it."""
    return ShownCape(cape, mine=False, selected=False)


async def _page(conn: Connection, listed: catalog.Listed, viewer_id: str) -> ShownPage:
    selection = await read_selection(conn, viewer_id)
    return ShownPage([_shown(cape, viewer_id, selection) for cape in listed.capes], listed.total)


def _shown(cape: Cape, viewer_id: str, selection: Selection | None) -> ShownCape:
    worn = selection is not None and selection.source == "native" and selection.cape_id == cape.id
    return ShownCape(cape, mine=cape.owner_id == viewer_id, selected=worn)
