"""Sessions: where users are signed in with a browser. Rows only; how long one lasts is decided in `actors`.

The end of each is announced by a NOTIFY on `CHANNEL` in its own transaction, with the ids of the session and its user.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from persistence.connection import Connection, Row

CHANNEL = "partyline_sessions"
"""The NOTIFY channel of sessions that have ended."""

MadeBy = Literal["setup", "link", "token", "issuer"]
"""What began a session: the setup link, a sign-in link, a token, or signing in with another issuer."""


class Lineage(msgspec.Struct, frozen=True):
    """What a session must not outlive.

    Args:
        parent_id: the session that it was made from, or None.
        bound_at_ms: when the token with which it was made expires, epoch milliseconds, or None.
        capped: whether it gives no super-admin's rights, because what it was made with could not give them.
    """

    parent_id: str | None = None
    bound_at_ms: int | None = None
    capped: bool = False


class Session(msgspec.Struct, frozen=True):
    """A session. Times are epoch milliseconds.

    Args:
        id: objectId, the `sid` of its tokens.
        made_by: what began it.
        parent_id, bound_at_ms, capped: its `Lineage`.
        identity_id: the identity with which the user signed in, or None.
        used_at_ms: when it was last used to issue a token.
        address, browser: the client's IP address and browser at that time; at most 64 and 200 characters.
    """

    id: str
    user_id: str
    made_by: MadeBy
    parent_id: str | None
    bound_at_ms: int | None
    capped: bool
    identity_id: str | None
    created_at_ms: int
    used_at_ms: int
    address: str
    browser: str


_COLUMNS = ", ".join(Session.__struct_fields__)
_OF_SECRET = f"""
WITH RECURSIVE chain AS (
    SELECT {_COLUMNS}, 0 AS depth FROM sessions WHERE secret_hash = $1
    UNION ALL
    SELECT {", ".join(f"parent.{name}" for name in Session.__struct_fields__)}, depth + 1
    FROM chain JOIN sessions AS parent ON parent.id = chain.parent_id
)
SELECT {_COLUMNS} FROM chain ORDER BY depth
"""  # noqa: S608 — names of our own
_END = """
WITH RECURSIVE doomed AS (
    SELECT id FROM sessions WHERE id = ANY ($1::text[])
    UNION
    SELECT child.id FROM doomed JOIN sessions AS child ON child.parent_id = doomed.id
)
DELETE FROM sessions WHERE id IN (SELECT id FROM doomed) RETURNING id, user_id
"""


class EndedSession(msgspec.Struct, frozen=True):
    """A session that has ended."""

    id: str
    user_id: str

    @classmethod
    def of(cls, payload: str) -> "EndedSession":
        """The session whose end a NOTIFY on `CHANNEL` announces.

        Args:
            payload: the text of the notification.
        """
        return cls(*payload.split(" "))


_OVERDUE = """
(SELECT id FROM sessions WHERE used_at_ms <= $1 ORDER BY used_at_ms LIMIT $4)
UNION (SELECT id FROM sessions WHERE created_at_ms <= $2 ORDER BY created_at_ms LIMIT $4)
UNION (SELECT id FROM sessions WHERE bound_at_ms <= $3 ORDER BY bound_at_ms LIMIT $4)
"""


def _session(row: Row) -> Session:
    return Session(*(row[name] for name in Session.__struct_fields__))


async def add(conn: Connection, session: Session, secret_hash: bytes) -> None:
    """Store a session.

    Args:
        secret_hash: SHA-256 of what its cookie holds.
    """
    await conn.execute(
        f"INSERT INTO sessions ({_COLUMNS}, secret_hash)"  # noqa: S608
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        *(getattr(session, name) for name in Session.__struct_fields__),
        secret_hash,
    )


async def with_ancestors(conn: Connection, secret_hash: bytes) -> list[Session]:
    """The session of a cookie, the one that it was made from, and so on; empty when there is none.

    Args:
        secret_hash: SHA-256 of what the cookie holds.
    """
    return [_session(row) for row in await conn.fetch(_OF_SECRET, secret_hash)]


async def living(conn: Connection, session_ids: Collection[str]) -> set[str]:
    """Those of these sessions that have not been ended."""
    rows = await conn.fetch("SELECT id FROM sessions WHERE id = ANY ($1::text[])", list(session_ids))
    return {row["id"] for row in rows}


async def of_user(conn: Connection, user_id: str) -> list[Session]:
    """All sessions of a user, the one used last first."""
    rows = await conn.fetch(
        f"SELECT {_COLUMNS} FROM sessions WHERE user_id = $1 ORDER BY used_at_ms DESC, id DESC",  # noqa: S608
        user_id,
    )
    return [_session(row) for row in rows]


async def touch(conn: Connection, session_id: str, *, now_ms: int, address: str, browser: str) -> bool:
    """Note that a session was used; False when it has ended.

    Args:
        now_ms: epoch milliseconds.
        address, browser: the client's IP address and browser; at most 64 and 200 characters.
    """
    tag = await conn.execute(
        "UPDATE sessions SET used_at_ms = greatest(used_at_ms, $2), address = $3, browser = $4 WHERE id = $1",
        session_id,
        now_ms,
        address,
        browser,
    )
    return tag == "UPDATE 1"


async def end(conn: Connection, session_ids: Collection[str]) -> tuple[EndedSession, ...]:
    """Delete sessions and all that were made from them, and notify every process at the commit; returns all deleted."""
    if not session_ids:
        return ()
    rows = await conn.fetch(_END, list(session_ids))
    ended = tuple(EndedSession(row["id"], row["user_id"]) for row in rows)
    payloads = [f"{one.id} {one.user_id}" for one in ended]
    await conn.execute("SELECT pg_notify($1, ended) FROM unnest($2::text[]) AS ended", CHANNEL, payloads)
    return ended


async def of_identity(conn: Connection, identity_id: str) -> list[str]:
    """Ids of the sessions that users began by signing in with an identity."""
    rows = await conn.fetch("SELECT id FROM sessions WHERE identity_id = $1", identity_id)
    return [row["id"] for row in rows]


async def overdue(
    conn: Connection, limit: int, *, now_ms: int, used_before_ms: int, created_before_ms: int
) -> list[str]:
    """Ids of sessions whose time is over; at most `limit` for each of the three reasons.

    Args:
        now_ms: sessions whose `bound_at_ms` has come by this time, epoch milliseconds.
        used_before_ms: sessions that were last used before this time, epoch milliseconds.
        created_before_ms: sessions that were made before this time, epoch milliseconds.
    """
    rows = await conn.fetch(_OVERDUE, used_before_ms, created_before_ms, now_ms, limit)
    return [row["id"] for row in rows]
