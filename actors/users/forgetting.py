"""Remove an erased user's name from others' notifications and from stored answers (contract §8)."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from actors.chat.records import DELETED
from actors.kernel.store import Store
from actors.stored_json import values_in
from persistence.connection import Connection
from persistence.journal import receipts
from persistence.notifications import notifications
from persistence.users import erasure

WRITTEN_IN: Mapping[str, tuple[str, str | None]] = MappingProxyType(
    {
        "friend_request": ("name", DELETED),
        "friend_accepted": ("name", DELETED),
        "party_invite": ("senderName", DELETED),
        "server_invite": ("note", None),
    }
)
"""{kind of notification: (the member of its data that has the actor's name or text, the value in its place)}."""


async def forget_in_notifications(
    store: Store, user_id: str, tell: Callable[[Collection[str]], None]
) -> None:
    """Rewrite the notifications that name a user.

    Works in batches, one transaction each; after an error or cancellation it is to be repeated from the start.

    Args:
        tell: called after each batch with the ids of users who have such notifications, also of those whose an earlier
            attempt has rewritten, since it may have ended before telling them.

    Raises:
        PersistenceError: the database cannot be asked.
    """

    async def forget_some(conn: Connection, after: str) -> tuple[set[str], str | None]:
        upto = await erasure.notices_end(conn, after)
        found = await erasure.notices_by(conn, user_id, after, upto)
        changed = {one.id: new for one in found if (new := _forgotten(one.kind, one.data)) is not None}
        if changed:
            await notifications.take_offset(conn, {one.user_id for one in found if one.id in changed})
            await erasure.rewrite_notices(conn, changed)
        return {one.user_id for one in found if one.kind in WRITTEN_IN}, upto

    after: str | None = ""
    while after is not None:
        some, after = await store.transact(forget_some, after)
        tell(some)


def _forgotten(kind: str, data: bytes) -> bytes | None:
    """The data without the name; None when there is nothing to remove."""
    written = WRITTEN_IN.get(kind)
    if written is None:
        return None
    field, without = written
    decoded: dict[str, Any] = values_in(data)
    if decoded.get(field) in (None, without):
        return None
    return msgspec.json.encode({**decoded, field: without})


async def forget_in_receipts(store: Store, user_id: str, mark: bytes) -> None:
    """Remove a user's name from stored answers to repeated requests.

    Works in batches, one transaction each; after an error or cancellation it is to be repeated from the start.

    Args:
        mark: the 16 bytes that end the fingerprints of the user's own requests.

    Raises:
        PersistenceError: the database cannot be asked.
    """

    async def forget_some(conn: Connection, after: bytes) -> bytes | None:
        upto = await receipts.page_end(conn, after)
        await receipts.forget_user(conn, user_id, mark, after, upto)
        return upto

    after: bytes | None = b""
    while after is not None:
        after = await store.transact(forget_some, after)
