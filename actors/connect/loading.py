"""A game server from its rows, and from its snapshot."""

import msgspec

from actors.connect.extensions import registered
from actors.connect.state import CLAIM_KEYS_KEPT, State
from persistence.connect import commands, extensions, invites, members, servers, sessions, settings
from persistence.connection import Connection

VERSION = 4
"""The version of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def dump(state: State) -> bytes:
    """Encode the snapshot, without what `refresh` reads from the rows."""
    slim = msgspec.structs.replace(
        state,
        row=msgspec.structs.replace(state.row, owner_name=None),
        commands={},
        settings={},
        registrations={},
        actions={},
        members={},
        invites={},
        found=None,
        relation=None,
        template=None,
    )
    return _encoder.encode(slim)


def restore(kept: bytes) -> State:
    """Decode a snapshot made by `dump`."""
    return _decoder.decode(kept)


async def load(conn: Connection, server_id: str) -> State | None:
    """Load the state from rows alone; None when there is no such server."""
    row = await servers.read(conn, server_id)
    if row is None:
        return None
    registrations = await extensions.of_server(conn, server_id)
    keys = await servers.newest_claim_keys(conn, server_id, CLAIM_KEYS_KEPT) if row.owner_id is None else []
    return State(
        row=row,
        claim_keys={key.key: key.expires_at_ms for key in reversed(keys)},
        tickets={ticket.user_id: ticket for ticket in await sessions.tickets_of(conn, server_id)},
        sessions={session.user_id: session for session in await sessions.sessions_of(conn, server_id)},
        commands={command.id: command for command in await commands.open_of(conn, server_id)},
        settings={one.source: one for one in await settings.of_server(conn, server_id)},
        registrations={one.extension_id: one for one in registrations},
        actions=registered(registrations),
        members={one.user_id: one for one in await members.of_server(conn, server_id)},
        invites={one.id: one for one in await invites.of_server(conn, server_id)},
    )


async def refresh(conn: Connection, server_id: str, state: State) -> State:
    """Bring a restored state up to date: it is read again from the rows, which hold all of it."""
    return await load(conn, server_id) or msgspec.structs.replace(state, removed=True)
