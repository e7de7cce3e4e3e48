"""The channel `servers`: the game servers that a user owns or is a member of, told of every change.

A view of rows (which servers, and which place on them) and of memory (statuses, and who listens). Who watches which
server is known as long as they do, so that a report of a server that nobody watches costs one look-up.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from actors.connect import events
from actors.connect.events import AnyEvent, ServerNews
from actors.connect.public import Server, server_of
from actors.connect.public_own import OwnServer, ServerAccess, ServersNow, access_of
from actors.connect.state import State
from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from actors.own_views import owner_only
from persistence.connect import own
from persistence.connect.own import OwnRow
from persistence.connection import Connection

NAME = "servers"
"""The name of the view and of its channel."""

INTERVAL_MS = 2_000
"""Frames to one user are at least this far apart: each of their servers may report twice a second."""

ROWS = "rows "
"""Prefix of a source that names a server whose rows have changed; a bare id names one of which only memory has
changed."""

_MOVING = frozenset({events.ServerChanged, events.ServerRemoved, events.MembersChanged})
"""The events that change which servers somebody has, or how they are shown."""

Touched = Callable[[str, Collection[str], str], None]
"""Tells views that a source of theirs has changed: `System.touched`, or `System.touched_everywhere`."""


class OwnServers(msgspec.Struct, frozen=True):
    """The state of the view.

    Args:
        fresh: {server id: (server, access)} of servers whose rows were read, to be shown with what memory says of them.
        items: {server id: the server as it is shown}.
    """

    user_id: str
    fresh: Mapping[str, tuple[Server, ServerAccess]]
    items: Mapping[str, OwnServer]


class ServersSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame: all servers of the user, oldest first."""

    type: Literal["servers_snapshot"] = "servers_snapshot"
    items: tuple[OwnServer, ...]


class ServerGone(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `server_removed`: the server was removed, or the user has no place on it any more."""

    server_id: str


class OwnServerMoved(Event, frozen=True):
    """A server of the user was added, has changed, or is gone."""

    server_id: str


class LiveOwnServers:
    """The view, and who watches which server.

    Args:
        now: looks up statuses and who listens.
    """

    def __init__(self, now: ServersNow) -> None:
        self.now = now
        self.view = self._view()
        self._watchers: dict[str, set[str]] = {}  # {server id: users in whose view it is}
        self._touched: Touched = _nobody
        self._touched_everywhere: Touched = _nobody

    def follow(self, touched: Touched, touched_everywhere: Touched) -> None:
        """Hear of statuses and of who listens from now on, and tell the views of it.

        Args:
            touched: `System.touched` of the system that runs the view, for changes that each node hears of.
            touched_everywhere: `System.touched_everywhere` of that system, for changes that one node hears of.
        """
        self._touched, self._touched_everywhere = touched, touched_everywhere
        self.now.statuses.follow(self._reported)
        self.now.listening.follow(self._reported)

    def happened(self, state: State, event: AnyEvent) -> None:
        """Hear of an event that a server's actor has committed on this node."""
        if type(event) in _MOVING:
            self.reread(state, event.gone if isinstance(event, events.MembersChanged) else ())

    def heard(self, server_id: str, event: ServerNews) -> None:
        """Hear of an event of a server, on whichever node it lives: those who see it here may see it no more."""
        if type(event) in _MOVING:
            self.moved(server_id)

    def reread(self, state: State, gone: Collection[str] = ()) -> None:
        """Have everybody concerned read a server's rows again: who owns it, or belongs to it.

        Args:
            gone: ids of users who no longer belong to it.
        """
        users = {*state.members, *gone}
        if state.row.owner_id is not None:
            users.add(state.row.owner_id)
        self._touched_everywhere(NAME, users, ROWS + state.id)

    def moved(self, server_id: str) -> None:
        """Have everybody who sees a server here read its rows again, because it may have changed or be gone."""
        self._touched(NAME, {*self._watchers.get(server_id, ())}, ROWS + server_id)

    def joined(self, owner_id: str, server_id: str) -> None:
        """Hear that a server was registered that has this owner from the start."""
        self._touched(NAME, (owner_id,), ROWS + server_id)

    def watched(self) -> int:
        """How many servers are watched."""
        return len(self._watchers)

    def _reported(self, server_id: str) -> None:
        watchers = self._watchers.get(server_id)
        if watchers is not None:
            self._touched(NAME, watchers, server_id)

    # -- the view -----------------------------------------------------------------------------------

    def _view(self) -> View[OwnServers]:
        return View(
            name=NAME,
            load=_load,
            reread=_reread,
            take=self._take,
            absorb=_absorb,
            adopt=self._adopt,
            release=self._release,
            events=_events,
            rendering=Rendering(audience=owner_only, render=_snapshot, render_event=_delta),
            interval_ms=INTERVAL_MS,
            differing=self._differing,
        )

    def _take(
        self, state: OwnServers, sources: AbstractSet[str], _peek: Peek
    ) -> tuple[OwnServers, AbstractSet[str]]:
        unknown = {source.removeprefix(ROWS) for source in sources if source.startswith(ROWS)}
        items = dict(state.items)
        for server_id in sources & items.keys():
            known = items[server_id]
            status, listening = self.now.status_of(server_id), self.now.listening.listens(server_id)
            items[server_id] = replace(known, status=status, listening=listening)
        return replace(state, items=items), unknown

    def _differing(self, shown: OwnServers, stored: OwnServers) -> Collection[str]:
        found = {id: self.now.joined(server, access) for id, (server, access) in stored.fresh.items()}
        ids = shown.items.keys() | found.keys()
        return [ROWS + id for id in ids if shown.items.get(id) != found.get(id)]

    def _adopt(self, before: OwnServers | None, after: OwnServers) -> OwnServers:
        """Add what memory says to the servers that were read from rows, and note which servers the user watches."""
        known = {} if before is None else before.items
        read = {id: self.now.joined(server, access) for id, (server, access) in after.fresh.items()}
        state = OwnServers(after.user_id, {}, {**after.items, **read})
        for server_id in state.items.keys() - known.keys():
            self._watchers.setdefault(server_id, set()).add(state.user_id)
        for server_id in known.keys() - state.items.keys():
            self._leave(server_id, state.user_id)
        return state

    def _release(self, state: OwnServers) -> None:
        for server_id in state.items:
            self._leave(server_id, state.user_id)

    def _leave(self, server_id: str, user_id: str) -> None:
        watchers = self._watchers[server_id]
        watchers.discard(user_id)
        if not watchers:
            del self._watchers[server_id]


def _read(row: OwnRow) -> tuple[Server, ServerAccess]:
    return server_of(row.server), access_of(row.server, row.role, row.capabilities)


async def _load(conn: Connection, user_id: str) -> OwnServers:
    rows = await own.of_user(conn, user_id)
    return OwnServers(user_id, {row.server.server_id: _read(row) for row in rows}, {})


async def _reread(conn: Connection, user_id: str, server_ids: AbstractSet[str]) -> Mapping[str, Any]:
    """{server id: its rows, or None where it is not the user's}."""
    rows = await own.some_of_user(conn, user_id, server_ids)
    return dict.fromkeys(server_ids) | {row.server.server_id: _read(row) for row in rows}


def _absorb(state: OwnServers, found: Mapping[str, Any]) -> OwnServers:
    items = {id: item for id, item in state.items.items() if id not in found}
    return replace(state, items=items, fresh={id: one for id, one in found.items() if one is not None})


def _events(before: OwnServers, after: OwnServers, _sources: Collection[str]) -> Sequence[OwnServerMoved]:
    ids = before.items.keys() | after.items.keys()
    return [OwnServerMoved(id) for id in sorted(ids) if before.items.get(id) != after.items.get(id)]


def _snapshot(state: OwnServers, _audience: None) -> ServersSnapshot:
    items = sorted(state.items.values(), key=lambda one: (one.created_at, one.server_id))
    return ServersSnapshot(items=tuple(items))


def _delta(state: OwnServers, event: OwnServerMoved, _audience: None) -> Delta:
    item = state.items.get(event.server_id)
    if item is None:
        return Delta("server_removed", ServerGone(event.server_id))
    return Delta("server_changed", item)


def _nobody(_view_name: str, _ids: Collection[str], _source: str) -> None:
    """Before the system runs, there are no watchers."""
