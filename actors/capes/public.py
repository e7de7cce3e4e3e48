"""Capes as one viewer sees them, with whether the viewer wears them."""

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
    """A cape as one viewer sees it.

    Args:
        mine: whether it is the viewer's own.
        selected: whether the viewer wears it.
    """

    cape: Cape
    mine: bool
    selected: bool


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of capes.

    Args:
        total: how many capes all pages have together.
    """

    capes: list[ShownCape]
    total: int


async def changed(
    conn: Connection, unit: Callable[[Connection], Awaitable[Change[Cape]]], viewer_id: str
) -> Change[ShownCape]:
    """Run a unit of work that changes a cape, and return the cape as the viewer sees it; raises what the unit raises.

    Args:
        viewer_id: the user who made the change.
    """
    change = await unit(conn)
    shown = _shown(change.value, viewer_id, await read_selection(conn, viewer_id))
    return Change(shown, change.events)


async def find_owned(conn: Connection, id: str, owner_id: str) -> ShownCape:
    """A user's own cape, in any state.

    Raises:
        NotFound: the user has no such cape.
    """
    cape = await read_cape(conn, id)
    if cape is None or cape.owner_id != owner_id:
        raise NotFound("no such cape")
    return _shown(cape, owner_id, await read_selection(conn, owner_id))


async def find_approved(conn: Connection, id: str) -> ShownCape:
    """An approved cape, as an anonymous viewer sees it.

    Raises:
        NotFound: there is no such cape, or it is not approved.
    """
    cape = await read_cape(conn, id)
    if cape is None or cape.status != "approved":
        raise NotFound("no such cape")
    return anonymous(cape)


async def find_worn(conn: Connection, user_id: str) -> tuple[ShownCape, Selection] | None:
    """The cape that others see a user wear: an approved native one, or None."""
    worn = await read_worn(conn, user_id)
    if worn is None:
        return None
    cape, chosen_at_ms = worn
    return ShownCape(cape, mine=False, selected=True), Selection("native", cape.id, chosen_at_ms)


async def page_approved(conn: Connection, query: str, limit: int, offset: int) -> ShownPage:
    """One page of the public catalog, or of the results of a search in it.

    Args:
        query: a substring of name, description or creator, in any case; "" for all capes.
        limit, offset: how many capes the page has at most, and how many come before it.
    """
    if query:
        listed = await catalog.search_approved(conn, query, limit, offset)
    else:
        listed = await catalog.list_approved(conn, limit, offset)
    return ShownPage([anonymous(cape) for cape in listed.capes], listed.total)


async def page_owned(conn: Connection, owner_id: str, limit: int, offset: int) -> ShownPage:
    """One page of a user's own capes, in any state, newest first; `limit` and `offset` count capes."""
    return await _page(conn, await catalog.list_owned(conn, owner_id, limit, offset), owner_id)


async def page_all(
    conn: Connection, viewer_id: str, status: CapeStatus | None, limit: int, offset: int
) -> ShownPage:
    """One page of all users' capes, for moderators.

    Args:
        viewer_id: the moderator.
        status: only capes in this state; None for all.
        limit, offset: how many capes the page has at most, and how many come before it.
    """
    return await _page(conn, await catalog.list_all(conn, status, limit, offset), viewer_id)


def anonymous(cape: Cape) -> ShownCape:
    """A cape as a viewer without a token sees it."""
    return ShownCape(cape, mine=False, selected=False)


async def _page(conn: Connection, listed: catalog.Listed, viewer_id: str) -> ShownPage:
    selection = await read_selection(conn, viewer_id)
    return ShownPage([_shown(cape, viewer_id, selection) for cape in listed.capes], listed.total)


def _shown(cape: Cape, viewer_id: str, selection: Selection | None) -> ShownCape:
    worn = selection is not None and selection.source == "native" and selection.cape_id == cape.id
    return ShownCape(cape, mine=cape.owner_id == viewer_id, selected=worn)
