"""Voice channels and the sessions in them, in rows; the rest of a channel lies in the summary of its head."""

from collections.abc import Mapping, Sequence

import msgspec

from persistence.connection import Connection
from persistence.journal import history, journal

KIND = "voice"
"""The kind under which the kernel keeps heads and journals of channels."""


class ChannelRow(msgspec.Struct, frozen=True):
    """A voice channel of two users, or of a party.

    Args:
        low_id, high_id: ids of the two users, the lower first; None for a party's channel.
    """

    id: str
    low_id: str | None
    high_id: str | None
    party_id: str | None
    created_at_ms: int


class SessionRow(msgspec.Struct, frozen=True):
    """A user's session in a voice channel.

    Args:
        issued_at_ms: when the newest token for the session was issued, epoch milliseconds.
        name: the user's name; read, but never written.
    """

    user_id: str
    session_id: str
    channel_id: str
    self_mute: bool
    self_deaf: bool
    joined_at_ms: int
    issued_at_ms: int
    name: str = ""


async def insert(
    conn: Connection, row: ChannelRow, *, epoch: str, summary: bytes, due_at_ms: int | None
) -> bool:
    """Create a channel; returns False when this party, or these two users, have one already.

    Args:
        epoch: a new name for its history (`journal.Head`).
        summary: what its head holds of it, encoded.
        due_at_ms: its first deadline, epoch milliseconds, or None.
    """
    made = await conn.fetchval(
        "INSERT INTO voice_channels (id, low_id, high_id, party_id, created_at_ms) VALUES ($1, $2, $3, $4, $5)"
        " ON CONFLICT DO NOTHING RETURNING id",
        *msgspec.structs.astuple(row),
    )
    if made is None:
        return False
    await journal.create_head(
        conn, KIND, row.id, epoch=epoch, summary=summary, due_at_ms=due_at_ms, at_ms=row.created_at_ms
    )
    return True


async def read(conn: Connection, channel_id: str) -> ChannelRow | None:
    """One channel, or None."""
    row = await conn.fetchrow(
        "SELECT id, low_id, high_id, party_id, created_at_ms FROM voice_channels WHERE id = $1", channel_id
    )
    return None if row is None else ChannelRow(*row)


async def find(conn: Connection, pair: tuple[str, str] | None, party_id: str | None) -> str | None:
    """The id of the channel of a party, or of two users, or None.

    Args:
        pair: ids of the two users, the lower first; None for a party's channel.
        party_id: the party's id; None for the channel of two users.
    """
    if pair is None:
        found = await conn.fetchval("SELECT id FROM voice_channels WHERE party_id = $1", party_id)
    else:
        found = await conn.fetchval("SELECT id FROM voice_channels WHERE low_id = $1 AND high_id = $2", *pair)
    id: str | None = found
    return id


async def ids(conn: Connection) -> list[str]:
    """The ids of all channels."""
    return [row["id"] for row in await conn.fetch("SELECT id FROM voice_channels ORDER BY id")]


async def sessions_of(conn: Connection, channel_id: str) -> list[SessionRow]:
    """The sessions in a channel, in no order."""
    rows = await conn.fetch(
        "SELECT s.user_id, s.session_id, s.channel_id, s.self_mute, s.self_deaf, s.joined_at_ms, s.issued_at_ms,"
        " u.name FROM voice_sessions s JOIN users u ON u.id = s.user_id WHERE s.channel_id = $1",
        channel_id,
    )
    return [SessionRow(*row) for row in rows]


async def session_of(conn: Connection, user_id: str) -> tuple[str, str] | None:
    """(channel id, session id) of a user, or None."""
    row = await conn.fetchrow("SELECT channel_id, session_id FROM voice_sessions WHERE user_id = $1", user_id)
    return None if row is None else (row["channel_id"], row["session_id"])


async def put_sessions(conn: Connection, rows: Sequence[SessionRow]) -> None:
    """Write the sessions of users, at most one a user, in place of those that they have."""
    ordered = sorted(rows, key=lambda row: row.user_id)
    await conn.execute(
        "INSERT INTO voice_sessions (user_id, session_id, channel_id, self_mute, self_deaf, joined_at_ms,"
        " issued_at_ms) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::boolean[],"
        " $6::bigint[], $7::bigint[]) ON CONFLICT (user_id) DO UPDATE SET session_id = excluded.session_id,"
        " channel_id = excluded.channel_id, self_mute = excluded.self_mute, self_deaf = excluded.self_deaf,"
        " joined_at_ms = excluded.joined_at_ms, issued_at_ms = excluded.issued_at_ms",
        [row.user_id for row in ordered],
        [row.session_id for row in ordered],
        [row.channel_id for row in ordered],
        [row.self_mute for row in ordered],
        [row.self_deaf for row in ordered],
        [row.joined_at_ms for row in ordered],
        [row.issued_at_ms for row in ordered],
    )


async def change_sessions(conn: Connection, rows: Sequence[SessionRow]) -> None:
    """Write the changeable columns of sessions; a session that was deleted is not stored again."""
    ordered = sorted(rows, key=lambda row: row.user_id)
    await conn.execute(
        "UPDATE voice_sessions s SET self_mute = c.self_mute, self_deaf = c.self_deaf,"
        " issued_at_ms = c.issued_at_ms FROM unnest($1::text[], $2::text[], $3::boolean[], $4::boolean[],"
        " $5::bigint[]) AS c (user_id, session_id, self_mute, self_deaf, issued_at_ms)"
        " WHERE s.user_id = c.user_id AND s.session_id = c.session_id",
        [row.user_id for row in ordered],
        [row.session_id for row in ordered],
        [row.self_mute for row in ordered],
        [row.self_deaf for row in ordered],
        [row.issued_at_ms for row in ordered],
    )


async def renew_sessions(conn: Connection, issued: Mapping[str, int]) -> None:
    """Write when the newest tokens of sessions were issued.

    Args:
        issued: {session id: epoch milliseconds}.
    """
    ordered = sorted(issued.items())
    await conn.execute(
        "UPDATE voice_sessions s SET issued_at_ms = i.at_ms FROM unnest($1::text[], $2::bigint[])"
        " AS i (session_id, at_ms) WHERE s.session_id = i.session_id",
        [session_id for session_id, _ in ordered],
        [at_ms for _, at_ms in ordered],
    )


async def end_sessions(conn: Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Delete sessions by (user id, session id); a newer one of the user stays."""
    ordered = sorted(pairs)
    await conn.execute(
        "DELETE FROM voice_sessions s USING unnest($1::text[], $2::text[]) AS gone (user_id, session_id)"
        " WHERE s.user_id = gone.user_id AND s.session_id = gone.session_id",
        [user_id for user_id, _ in ordered],
        [session_id for _, session_id in ordered],
    )


async def end(conn: Connection, channel_ids: Sequence[str]) -> None:
    """Delete channels."""
    await conn.execute("DELETE FROM voice_channels WHERE id = ANY ($1::text[])", list(channel_ids))


_HEADS = """
SELECT h.id, c.id IS NULL AND h.updated_at_ms < $2 AS ended
FROM (SELECT id, updated_at_ms FROM heads WHERE kind = $1 AND id > $3 ORDER BY id LIMIT $4) AS h
LEFT JOIN voice_channels c ON c.id = h.id ORDER BY h.id
"""


async def sweep_ended(conn: Connection, after: str | None, limit: int, *, now_ms: int) -> str | None:
    """Delete heads, journals and snapshots of those among the next channels that ended an hour ago.

    Args:
        after: the last channel of the page before; None from the start.
        limit: channels that are looked at, and events that are deleted, at most.
        now_ms: epoch milliseconds.

    Returns:
        Where the next page starts; None after the last.
    """
    ended = history.Ended(KIND, _HEADS, now_ms - history.ENDED_KEPT_MS)
    return await history.sweep_ended(conn, ended, after, limit)
