"""Taking an erased user's name out of what others were notified of (contract §8)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from actors.chat.records import DELETED
from actors.kernel.store import Store
from actors.stored_json import values_in
from persistence.connection import Connection
from persistence.people import erasure

NAMED_IN: Mapping[str, str] = MappingProxyType(
    {"friend_request": "name", "friend_accepted": "name", "party_invite": "senderName"}
)
"""{kind of notification: the member of its data that is the name of who has caused it}."""


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
    field = NAMED_IN.get(kind)
    decoded: dict[str, Any] = values_in(data)
    if field is None or decoded.get(field) in (None, DELETED):
        return None
    return msgspec.json.encode({**decoded, field: DELETED})
