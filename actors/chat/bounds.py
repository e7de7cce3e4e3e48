"""How many groups one user may own or be in, and how many others they may bring into conversations (contract §4).

A conversation is created in one transaction, which counts afterwards and fails as a whole. Members are added in the
group's own turn: room is reserved before it, counts meanwhile, and what was not used is released after it.

All who add to groups take turns, and to count the groups of a thousand users takes a while. So it is counted before
that, too: nobody waits for a request that is refused, which takes nothing of what its sender may do in a day.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from actors.errors import QuotaExceeded
from actors.field_errors import FieldError
from actors.users.permissions import Access
from persistence.chat import bounds
from persistence.connection import Connection

GROUPS_NODE = "social:groups.max"
"""The permission node that grants a number of groups to own."""

GROUPS_DEFAULT, GROUPS_BOUND = 100, 10_000
"""How many groups a user may own: without a grant, and at most, however many are granted."""

MEMBERSHIPS_MAX = 1_000
"""Most groups that one user is in: five times what an inbox shows. Adding a user beyond it is refused."""

ADDED_MAX = 2_048
"""Most users whom one user brings into conversations on one day (UTC): two of the largest groups."""


class Addition(msgspec.Struct, frozen=True):
    """Users to be added to a group.

    Args:
        pointers: {user id: JSON pointer into the request} of the users to be added.
        now_ms: epoch milliseconds.
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
    """Check the bounds after this transaction has created a conversation, and count the users brought into it.

    Args:
        pointers: {user id: JSON pointer into the request} of the other members.
        is_group: whether it is a group; for direct conversations only the users brought in are counted.
        groups_max: how many groups the maker may own (`capacity`).
        now_ms: epoch milliseconds.

    Raises:
        QuotaExceeded: the maker or another member is beyond a bound; the transaction must not be committed.
    """
    if not is_group:
        await _count_added(conn, maker_id, len(pointers), now_ms)
        return
    members = [maker_id, *pointers]
    await _check_owned(conn, maker_id, groups_max)
    await _check_memberships(conn, members, pointers, now_ms)
    await bounds.lock(conn)  # before the count, as additions to groups take them
    await _count_added(conn, maker_id, len(pointers), now_ms)
    await _check_owned(conn, maker_id, groups_max)
    await _check_memberships(conn, members, pointers, now_ms)


async def begin(conn: Connection, addition: Addition) -> list[str]:
    """Reserve room for users to be added to a group, inside a transaction.

    Returns: the ids for which room was reserved; call `end` with them after the addition.

    Raises:
        QuotaExceeded: one of them would be in too many groups, or the adder has brought in too many users today.
    """
    new = await bounds.not_joining(
        conn, addition.conversation_id, list(addition.pointers), now_ms=addition.now_ms
    )
    await _check_memberships(conn, new, addition.pointers, addition.now_ms, most=MEMBERSHIPS_MAX - 1)
    await bounds.lock(conn)
    ids = await bounds.begin_joining(
        conn, addition.conversation_id, list(addition.pointers), now_ms=addition.now_ms
    )
    await _check_memberships(conn, ids, addition.pointers, addition.now_ms)
    if ids:
        await _count_added(conn, addition.adder_id, len(ids), addition.now_ms)
    return ids


async def end(conn: Connection, addition: Addition, ids: Sequence[str]) -> None:
    """Release the room of users who have not become members, inside a transaction.

    Args:
        ids: the ids that `begin` returned.
    """
    unused = await bounds.end_joining(conn, addition.conversation_id, ids)
    if unused:
        await bounds.count_added(conn, addition.adder_id, -unused, now_ms=addition.now_ms)


async def _count_added(conn: Connection, adder_id: str, members: int, now_ms: int) -> None:
    if await bounds.count_added(conn, adder_id, members, now_ms=now_ms) > ADDED_MAX:
        sentence = f"you may bring {ADDED_MAX} others into conversations within a day"
        raise QuotaExceeded(message=sentence, max=ADDED_MAX)


async def _check_owned(conn: Connection, maker_id: str, groups_max: int) -> None:
    if await bounds.groups_owned(conn, maker_id) > groups_max:
        error = FieldError("/kind", "QUOTA", f"you may own {groups_max} groups")
        raise QuotaExceeded(error, max=groups_max)


async def _check_memberships(
    conn: Connection,
    user_ids: Collection[str],
    pointers: Mapping[str, str],
    now_ms: int,
    *,
    most: int = MEMBERSHIPS_MAX,
) -> None:
    full = await bounds.in_too_many(conn, list(user_ids), most=most, now_ms=now_ms)
    if full:
        sentence = f"a user is in {MEMBERSHIPS_MAX} groups at most"
        errors = [FieldError(pointers.get(id, ""), "QUOTA", sentence) for id in full]
        raise QuotaExceeded(*errors, max=MEMBERSHIPS_MAX)
