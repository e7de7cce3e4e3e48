"""Users. Rows only.

`name_lower` is lower-cased here, in Python: PostgreSQL's `lower` depends on the cluster's locale.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import intern
from typing import Any, Literal

import msgspec

from persistence.connection import Connection
from persistence.users.names import beginning
from persistence.users.permissions import Grant, announce, renamed, rights_of

Visibility = Literal["PUBLIC", "FRIENDS", "PRIVATE"]
"""Which viewers may see something of a user (service-api §2 Profile)."""

GroupInvites = Literal["EVERYONE", "FRIENDS", "NOBODY"]
"""Which users may add a user to a group (contract §5)."""

NAME_SLACK_SECONDS = 5
"""By how much a token that renames a user may be older than the one that gave the present name: issuers' clocks differ.
"""


class User(msgspec.Struct, frozen=True):
    """One user. Times are epoch milliseconds; None = never, or not known.

    Args:
        id: lower-case uuid.
        name: the name in the newest token.
        name_issued_at_s: `iat` of that token, epoch seconds.
        home_region, last_region: as a client reported them.
        server_list_visibility: who may read the user's saved servers.
        group_invites: who may put the user into a group.
        patreon_tier, discord_username: None where the user has linked no such account.
        supporter_tier: the tier of a user who supports the service, else None.
        tokens_not_before_s: tokens with an earlier `iat` were revoked; epoch seconds, 0 for none.

    Every field is short: thousands of users are in memory. What is long is read by itself (`settings.py`).
    """

    id: str
    name: str
    name_issued_at_s: int
    created_at_ms: int
    updated_at_ms: int
    first_joined_at_ms: int | None
    last_seen_at_ms: int | None
    home_region: str | None
    last_region: str | None
    last_region_at_ms: int | None
    allow_friend_requests: bool
    server_list_visibility: Visibility
    group_invites: GroupInvites
    patreon_tier: str | None
    discord_username: str | None
    supporter_tier: str | None
    supporter_since_ms: int | None
    tokens_not_before_s: int


COLUMNS = ", ".join(User.__struct_fields__)
"""The columns from which `user_of` makes a user."""

_SELECT = f"SELECT {COLUMNS} FROM users"  # noqa: S608 — names of our own
_WITH_ROLES = f"""
SELECT {COLUMNS}, ARRAY(SELECT role FROM user_roles WHERE user_id = users.id)
FROM users WHERE id = ANY ($1::text[])
"""  # noqa: S608
_ARRIVE = f"""
INSERT INTO users (id, name, name_lower, name_issued_at_s, created_at_ms, updated_at_ms, first_joined_at_ms,
                   last_seen_at_ms)
VALUES ($1, $2, $3, $4, $5, $5, $5, $5) ON CONFLICT (id) DO NOTHING RETURNING {COLUMNS}
"""  # noqa: S608
_RENAME = f"""
UPDATE users SET name = $2, name_lower = $3, name_issued_at_s = greatest(name_issued_at_s, $4), updated_at_ms = $5,
    renamed_at_ms = $5
WHERE id = $1 AND name <> $2 AND name_issued_at_s <= $6 AND tokens_not_before_s <= $4 RETURNING {COLUMNS}
"""  # noqa: S608
_REFUSE = "UPDATE users SET tokens_not_before_s = $2 WHERE id = $1"


class UserWithRights(msgspec.Struct, frozen=True):
    """A user, their roles as stored, and all their grants, expired ones too."""

    user: User
    roles: tuple[str, ...]
    grants: tuple[Grant, ...]


def user_of(fields: Iterable[Any]) -> User:
    """The user in the values of `COLUMNS`."""
    id, name, *others = fields
    # Interned, because both are in many places of memory while the user is active.
    return User(intern(id), intern(name), *others)


async def arrive(conn: Connection, user_id: str, name: str, *, issued_at_s: int, now_ms: int) -> User | None:
    """The user behind a verified token: created when first seen, renamed by a newer token with another name.

    None when the user was erased since the token was issued, or while their erasure is not finished, since rows that it
    has yet to remove would become theirs again. Of a user who comes back, tokens from before the erasure stay revoked.

    Args:
        user_id: the token's `sub`, a lower-case uuid.
        name: the token's `name`.
        issued_at_s: the token's `iat`, epoch seconds.
        now_ms: epoch milliseconds.
    """
    row = await conn.fetchrow(
        _ARRIVE,
        user_id,
        name,
        name.lower(),
        issued_at_s,
        now_ms,
    )
    if row is not None:
        # A separate statement, so that it sees an erasure that was committed during the insertion.
        not_before_s = await _first_valid_s(conn, user_id)
        if not_before_s is None or issued_at_s < not_before_s:
            await conn.execute("DELETE FROM users WHERE id = $1", user_id)
            return None
        user = user_of(row)
        if not_before_s:
            await conn.execute(_REFUSE, user_id, not_before_s)
        return msgspec.structs.replace(user, tokens_not_before_s=not_before_s)
    row = await conn.fetchrow(
        _RENAME,
        user_id,
        name,
        name.lower(),
        issued_at_s,
        now_ms,
        issued_at_s + NAME_SLACK_SECONDS,
    )
    if row is not None:
        await announce(conn, renamed(user_id, name))
        return user_of(row)
    return await read_user(conn, user_id)


async def _first_valid_s(conn: Connection, user_id: str) -> int | None:
    """The first `iat`, epoch seconds, that is later than the user's erasure; 0 if they were not erased, and None while
    the erasure is not finished.
    """
    row = await conn.fetchrow(
        "SELECT erased_at_ms / 1000 + 1 AS not_before_s, swept FROM erased_users WHERE user_id = $1", user_id
    )
    if row is None:
        return 0
    not_before_s: int | None = row["not_before_s"] if row["swept"] else None
    return not_before_s


async def read_user(conn: Connection, user_id: str) -> User | None:
    """One user, or None."""
    row = await conn.fetchrow(f"{_SELECT} WHERE id = $1", user_id)
    return None if row is None else user_of(row)


async def read_with_rights(conn: Connection, user_ids: Sequence[str]) -> dict[str, UserWithRights]:
    """{user id: the user with roles and grants}, of those who exist."""
    rows, grants = await conn.fetch(_WITH_ROLES, user_ids), await rights_of(conn, user_ids)
    users = [(user_of(fields), roles) for *fields, roles in rows]
    return {user.id: UserWithRights(user, tuple(roles), tuple(grants[user.id])) for user, roles in users}


async def find_by_prefix(conn: Connection, prefix: str, limit: int) -> list[User]:
    """Users whose name begins with `prefix`, in any case, by name; at most `limit`."""
    # Two bounds in place of LIKE: the index can be used under generic plans, too.
    rows = await conn.fetch(
        f"{_SELECT} WHERE name_lower ~>=~ $1 AND name_lower ~<~ $2"
        " ORDER BY name_lower USING ~<~, id LIMIT $3",
        *beginning(prefix),
        limit,
    )
    return [user_of(row) for row in rows]


async def lock_user(conn: Connection, user_id: str) -> User | None:
    """One user, or None; the row is locked for changes until the transaction ends.

    Rows that refer to the user can still be written meanwhile: their foreign keys do not wait for this lock.
    """
    row = await conn.fetchrow(f"{_SELECT} WHERE id = $1 FOR NO KEY UPDATE", user_id)
    return None if row is None else user_of(row)


async def keep_users(conn: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of these users that exist; none of them can be erased until the transaction ends.

    Only keys are locked, so changes of the users themselves do not wait.
    """
    rows = await conn.fetch(
        "SELECT id FROM users WHERE id = ANY ($1::text[]) ORDER BY id FOR KEY SHARE", list(user_ids)
    )
    return {row["id"] for row in rows}


async def refuse_tokens(conn: Connection, user_id: str, not_before_s: int) -> None:
    """Revoke a user's tokens with an earlier `iat`; every process is notified at the commit.

    Args:
        not_before_s: the first valid `iat`, epoch seconds.
    """
    await conn.execute(_REFUSE, user_id, not_before_s)
    await announce(conn, user_id)


async def save_last_seen(conn: Connection, seen: Mapping[str, int]) -> None:
    """Move `last_seen_at_ms` forward; `seen` is {user id: epoch milliseconds}. What is ahead by more than an hour was
    written by a clock that was ahead, and is moved back.

    Rows are locked in the order of their ids, so that two processes that write the same users cannot deadlock. Rows
    that refer to the users can be written meanwhile, in whatever order.
    """
    users = sorted(seen)
    await conn.execute(
        "UPDATE users SET last_seen_at_ms = new.at_ms FROM"
        " (SELECT users.id, later.at_ms FROM users JOIN unnest($1::text[], $2::bigint[]) AS later (id, at_ms)"
        " USING (id) ORDER BY users.id FOR NO KEY UPDATE OF users) AS new"
        " WHERE users.id = new.id AND (coalesce(users.last_seen_at_ms, 0) < new.at_ms"
        " OR users.last_seen_at_ms > new.at_ms + 3600000)",
        users,
        [seen[user_id] for user_id in users],
    )
