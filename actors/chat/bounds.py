"""How many groups one user may own or be in, and how many others they may bring into conversations (contract §4).

A conversation is made in one transaction, which counts after it and fails as a whole. Members are added in the group's
own turn: room is taken before it and what was not used is given back after it; while that is under way it counts.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from actors.errors import FieldError, QuotaExceeded
from actors.users.permissions import Access
from persistence.chat import bounds
from persistence.connection import Connection

GROUPS_NODE = "social:groups.max"
"""The quota node of the number of groups that one owns."""

GROUPS_DEFAULT, GROUPS_BOUND = 100, 10_000
"""How many groups one may own where nothing is granted, and whatever is granted."""

MEMBERSHIPS_MAX = 1_000
"""Groups that one is in: five times what an inbox shows. Whoever adds somebody beyond it is refused."""

ADDED_MAX = 2_048
"""Others whom one brings into conversations on one day (UTC): two of the largest groups."""


class Addition(msgspec.Struct, frozen=True):
    """Users to be added to a group.

    Args:
        pointers: {user id: JSON pointer} of those to be added.
    """

    conversation_id: str
    adder_id: str
    pointers: dict[str, str]
    now_ms: int


def capacity(access: Access) -> int:
    """How many groups a user with these rights may own."""
    quota = access.quota(GROUPS_NODE)
    return GROUPS_DEFAULT if quota is None else min(int(quota.value), GROUPS_BOUND)


async def check_made(
    conn: Connection,
    maker_id: str,
    pointers: Mapping[str, str],
    *,
    is_group: bool,
    groups_max: int,
    now_ms: int,
) -> None:
    """Count a conversation that this transaction has made.

    Args:
        pointers: {user id: JSON pointer} of the others in it.
        groups_max: as `capacity` says.
        is_group: it is a group; direct conversations have bounds of their own.

    Raises:
        QuotaExceeded: it is one too many for a participant; the transaction must not be committed.
    """
    await _count_added(conn, maker_id, len(pointers), now_ms)
    if not is_group:
        return
    await bounds.lock(conn)
    if await bounds.groups_owned(conn, maker_id) > groups_max:
        error = FieldError("/kind", "QUOTA", f"you may own {groups_max} groups")
        raise QuotaExceeded(error, max=groups_max)
    await _check_memberships(conn, [maker_id, *pointers], pointers, now_ms)


async def begin(conn: Connection, addition: Addition) -> list[str]:
    """Take room for an addition, inside a transaction; to be followed by `end` with what this returns.

    Raises:
        QuotaExceeded: a user would be in too many groups, or the one who adds them has added too many today.
    """
    await bounds.lock(conn)
    ids = await bounds.begin_joining(
        conn, addition.conversation_id, list(addition.pointers), now_ms=addition.now_ms
    )
    await _check_memberships(conn, ids, addition.pointers, addition.now_ms)
    if ids:
        await _count_added(conn, addition.adder_id, len(ids), addition.now_ms)
    return ids


async def end(conn: Connection, addition: Addition, ids: Sequence[str]) -> None:
    """Give back what an addition has not used, inside a transaction."""
    unused = await bounds.end_joining(conn, addition.conversation_id, ids)
    if unused:
        await bounds.count_added(conn, addition.adder_id, -unused, now_ms=addition.now_ms)


async def _count_added(conn: Connection, adder_id: str, members: int, now_ms: int) -> None:
    if await bounds.count_added(conn, adder_id, members, now_ms=now_ms) > ADDED_MAX:
        sentence = f"you may bring {ADDED_MAX} others into conversations within a day"
        raise QuotaExceeded(message=sentence, max=ADDED_MAX)


async def _check_memberships(
    conn: Connection, user_ids: Collection[str], pointers: Mapping[str, str], now_ms: int
) -> None:
    full = await bounds.in_too_many(conn, list(user_ids), most=MEMBERSHIPS_MAX, now_ms=now_ms)
    if full:
        sentence = f"a user is in {MEMBERSHIPS_MAX} groups at most"
        errors = [FieldError(pointers.get(id, ""), "QUOTA", sentence) for id in full]
        raise QuotaExceeded(*errors, max=MEMBERSHIPS_MAX)
