"""A game server's state from its rows, and the rows of what has happened to it."""

from collections.abc import Sequence

import msgspec

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.state import CLAIM_KEYS_KEPT, State
from persistence.connect import servers, sessions
from persistence.connect.rows import ClaimKeyRow, ServerRow, SessionRow, TicketRow
from persistence.connection import Connection
from persistence.turn import Turn

VERSION = 1
"""Of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def dump(state: State) -> bytes:
    """The snapshot."""
    return _encoder.encode(state)


def restore(kept: bytes) -> State:
    """What `dump` made."""
    return _decoder.decode(kept)


async def load(conn: Connection, server_id: str) -> State | None:
    """The state from rows alone; None when there is no such server."""
    row = await servers.read(conn, server_id)
    if row is None:
        return None
    keys = await servers.newest_claim_keys(conn, server_id, CLAIM_KEYS_KEPT) if row.owner_id is None else []
    return State(
        row=row,
        claim_keys={key.key: key.expires_at_ms for key in reversed(keys)},
        tickets={ticket.user_id: ticket for ticket in await sessions.tickets_of(conn, server_id)},
        sessions={session.user_id: session for session in await sessions.sessions_of(conn, server_id)},
    )


async def refresh(conn: Connection, server_id: str, state: State) -> State:
    """The state as the rows are now: nothing of it is in the journal."""
    return await load(conn, server_id) or msgspec.structs.replace(state, removed=True)


async def persist(conn: Connection, turns: Sequence[Turn]) -> None:
    """Write the rows of all turns, inside the writer's transaction."""
    changes = Changes()
    for turn in turns:
        for event in turn.events:
            changes.take(turn.id, event)  # type: ignore[arg-type]
    await changes.write(conn)


class Changes:
    """The outcome of many turns, by table. One actor has at most one turn among them."""

    def __init__(self) -> None:
        self.servers: dict[str, ServerRow] = {}  # {server id: its own row at the end}
        self.claim_keys: list[ClaimKeyRow] = []
        self.tickets: dict[tuple[str, str], TicketRow] = {}  # {(server id, user id): the newest}
        self.sessions: dict[tuple[str, str], SessionRow | None] = {}  # the same: None where it has ended
        self.removed: list[str] = []

    def take(self, server_id: str, event: AnyEvent) -> None:
        """Take in one more event of a server."""
        match event:
            case events.ServerChanged():
                self.servers[server_id] = event.row
            case events.ClaimKeyIssued():
                self.claim_keys.append(ClaimKeyRow(event.key, server_id, event.expires_at_ms))
            case events.TicketIssued():
                self.tickets[server_id, event.ticket.user_id] = event.ticket
            case events.SessionStarted():
                self.tickets[server_id, event.ticket.user_id] = event.ticket
                self.sessions[server_id, event.session.user_id] = event.session
            case events.SessionEnded():
                self.sessions[server_id, event.session.user_id] = None
            case events.ServerRemoved():
                self.removed.append(server_id)

    async def write(self, conn: Connection) -> None:
        """Write all of it."""
        for row in self.servers.values():  # rare: once in the life of most servers
            await servers.change(conn, row)
        if self.claim_keys:
            await servers.add_claim_keys(conn, self.claim_keys)
        if self.tickets:
            await sessions.put_tickets(conn, list(self.tickets.values()))
        if self.sessions:
            await sessions.end(conn, list(self.sessions))
            await sessions.start(conn, [one for one in self.sessions.values() if one is not None])
        if self.removed:
            await servers.remove(conn, self.removed)
