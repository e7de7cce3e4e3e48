"""Sessions on game servers as quests count them: those that go on, or have ended since the last count. Rows only."""

from collections.abc import Collection, Sequence

import msgspec

from persistence.connection import Connection


class Visit(msgspec.Struct, frozen=True):
    """A session on a game server.

    Args:
        session_id: the session's id.
        server_id, user_id: where it is or was, and the player.
        began_at_ms: when it began, epoch milliseconds.
        ends_at_ms: when it has ended, or will at the latest; epoch milliseconds.
        own: whether the server is the player's own.
    """

    session_id: str
    server_id: str
    user_id: str
    began_at_ms: int
    ends_at_ms: int
    own: bool


class VisitPage(msgspec.Struct, frozen=True):
    """A page of the visits that go on.

    Args:
        visits: in the order of (server id, user id).
        last: (server id, user id) of the last visit, or None when there are no more pages.
    """

    visits: list[Visit]
    last: tuple[str, str] | None


async def going_on(conn: Connection, after: tuple[str, str] | None, limit: int) -> VisitPage:
    """The visits that have begun and not ended, in the order of (server id, user id).

    Args:
        after: the `last` of the page before; None for the first page.
        limit: how many visits at most, 1 or more.
    """
    rows = await conn.fetch(_GOING_ON, *(after or ("", "")), limit)
    visits = [Visit(*row) for row in rows]
    return VisitPage(visits, (visits[-1].server_id, visits[-1].user_id) if len(visits) == limit else None)


async def end(conn: Connection, visits: Sequence[Visit]) -> None:
    """Leave visits that have ended for the next count; the users exist and cannot be erased meanwhile."""
    await conn.execute(
        _END,
        [one.session_id for one in visits],
        [one.server_id for one in visits],
        [one.user_id for one in visits],
        [one.began_at_ms for one in visits],
        [one.ends_at_ms for one in visits],
        [one.own for one in visits],
    )


async def ended(conn: Connection, limit: int) -> list[Visit]:
    """Visits that have ended and are not counted, at most `limit`."""
    return [Visit(*row) for row in await conn.fetch(_ENDED, limit)]


async def ended_before(conn: Connection, visits: Sequence[Visit]) -> list[Visit]:
    """The visits of the same players on the same servers that have ended before these and are not counted."""
    rows = await conn.fetch(
        _ENDED_BEFORE,
        [one.user_id for one in visits],
        [one.server_id for one in visits],
    )
    return [Visit(*row) for row in rows]


async def hold(conn: Connection, session_ids: Collection[str]) -> set[str]:
    """Those of these ended visits that nobody has counted meanwhile, nor will before the transaction ends; the users
    cannot be erased meanwhile.
    """
    rows = await conn.fetch(
        "SELECT session_id FROM quest_ended_visits WHERE session_id = ANY ($1::text[])"
        " ORDER BY session_id FOR UPDATE",
        list(session_ids),
    )
    return {row["session_id"] for row in rows}


async def forget(conn: Connection, session_ids: Collection[str]) -> None:
    """Delete ended visits that are counted."""
    await conn.execute(
        "DELETE FROM quest_ended_visits WHERE session_id = ANY ($1::text[])", list(session_ids)
    )


_GOING_ON = """
SELECT s.id, s.server_id, s.user_id, s.started_at_ms, s.expires_at_ms, c.owner_id IS NOT DISTINCT FROM s.user_id
FROM connect_sessions s JOIN connect_servers c USING (server_id)
WHERE (s.server_id, s.user_id) > ($1, $2) ORDER BY s.server_id, s.user_id LIMIT $3
"""

_END = """
INSERT INTO quest_ended_visits (session_id, server_id, user_id, began_at_ms, ended_at_ms, own)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
ON CONFLICT DO NOTHING
"""

_ENDED = """
SELECT session_id, server_id, user_id, began_at_ms, ended_at_ms, own FROM quest_ended_visits
ORDER BY session_id LIMIT $1
"""

_ENDED_BEFORE = """
SELECT session_id, server_id, user_id, began_at_ms, ended_at_ms, own
FROM quest_ended_visits JOIN unnest($1::text[], $2::text[]) AS asked (user_id, server_id) USING (user_id, server_id)
"""
