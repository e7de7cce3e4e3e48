"""Taking an erased user's name out of what others were notified of, and were answered (contract §8)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from actors.chat.records import DELETED
from actors.kernel.store import Store
from actors.stored_json import values_in
from persistence.connection import Connection
from persistence.journal import receipts
from persistence.users import erasure

WRITTEN_IN: Mapping[str, tuple[str, str | None]] = MappingProxyType(
    {
        "friend_request": ("name", DELETED),
        "friend_accepted": ("name", DELETED),
        "party_invite": ("senderName", DELETED),
        "server_invite": ("note", None),
    }
)
"""{kind of notification: the member of its data that comes from who has caused it, and what it is without them}."""


async def forget_in_notifications(store: Store, user_id: str) -> set[str]:
    """Rewrite the notifications that name a user; returns whose they are. To be repeated when it was interrupted.

    Raises:
        PersistenceError: the database is away.
    """

    async def forget_some(conn: Connection, after: str) -> tuple[set[str], str | None]:
        upto = await erasure.notices_end(conn, after)
        found = await erasure.notices_by(conn, user_id, after, upto)
        changed = {one.id: new for one in found if (new := _forgotten(one.kind, one.data)) is not None}
        if changed:
            await erasure.rewrite_notices(conn, changed)
        return {one.user_id for one in found if one.id in changed}, upto

    told: set[str] = set()
    after: str | None = ""
    while after is not None:
        some, after = await store.transact(forget_some, after)
        told |= some
    return told


def _forgotten(kind: str, data: bytes) -> bytes | None:
    """The data without the name; None when it is so already."""
    written = WRITTEN_IN.get(kind)
    if written is None:
        return None
    field, without = written
    decoded: dict[str, Any] = values_in(data)
    if decoded.get(field) in (None, without):
        return None
    return msgspec.json.encode({**decoded, field: without})


async def forget_in_receipts(store: Store, user_id: str, mark: bytes) -> None:
    """Take a user's name out of what is kept of answers. To be repeated when it was interrupted.

    Args:
        mark: of the user's own requests.

    Raises:
        PersistenceError: the database is away.
    """

    async def forget_some(conn: Connection, after: bytes) -> bytes | None:
        upto = await receipts.page_end(conn, after)
        await receipts.forget_user(conn, user_id, mark, after, upto)
        return upto

    after: bytes | None = b""
    while after is not None:
        after = await store.transact(forget_some, after)
