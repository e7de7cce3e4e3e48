"""Users' accounts at other issuers, with which they sign in. Rows only."""

import msgspec

from persistence.connection import Connection, Row


class Identity(msgspec.Struct, frozen=True):
    """A user's account at an issuer. Times are epoch milliseconds.

    Args:
        id: objectId.
        issuer: the issuer's `iss`.
        subject: the account's `sub` there; never shown.
        name: the user's name there when they last signed in, or None.
        capped: whether signing in with it gives no super-admin's rights, as when it was linked by means that could not
            give them either.
    """

    id: str
    user_id: str
    issuer: str
    subject: str
    name: str | None
    linked_at_ms: int
    used_at_ms: int
    capped: bool = False


_COLUMNS = ", ".join(Identity.__struct_fields__)


def _identity(row: Row) -> Identity:
    return Identity(*(row[name] for name in Identity.__struct_fields__))


async def hold(conn: Connection, issuer: str, subject: str) -> Identity | None:
    """The identity of an account, or None. Until the transaction ends, no other one can add an identity for it.

    Args:
        issuer: the issuer's `iss`.
        subject: the account's `sub`.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 46))", f"{issuer}\n{subject}")
    row = await conn.fetchrow(
        f"SELECT {_COLUMNS} FROM identities WHERE issuer = $1 AND subject = $2",  # noqa: S608
        issuer,
        subject,
    )
    return None if row is None else _identity(row)


async def add(conn: Connection, identity: Identity) -> None:
    """Store an identity."""
    await conn.execute(
        f"INSERT INTO identities ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",  # noqa: S608
        *(getattr(identity, name) for name in Identity.__struct_fields__),
    )


async def touch(conn: Connection, identity_id: str, *, name: str | None, now_ms: int) -> bool:
    """Note that a user has signed in with an identity; False when it was removed.

    Args:
        name: the user's present name there; None leaves the stored name.
        now_ms: epoch milliseconds.
    """
    tag = await conn.execute(
        "UPDATE identities SET used_at_ms = $2, name = coalesce($3, name) WHERE id = $1",
        identity_id,
        now_ms,
        name,
    )
    return tag == "UPDATE 1"


async def uncap(conn: Connection, identity_id: str) -> None:
    """Let signing in with an identity give a super-admin's rights, as far as its issuer may."""
    await conn.execute("UPDATE identities SET capped = false WHERE id = $1 AND capped", identity_id)


async def of_user(conn: Connection, user_id: str) -> list[Identity]:
    """All identities of a user, the one that was linked first at the front."""
    rows = await conn.fetch(
        f"SELECT {_COLUMNS} FROM identities WHERE user_id = $1 ORDER BY linked_at_ms, id",  # noqa: S608
        user_id,
    )
    return [_identity(row) for row in rows]


async def remove(conn: Connection, identity_id: str) -> None:
    """Delete an identity."""
    await conn.execute("DELETE FROM identities WHERE id = $1", identity_id)
