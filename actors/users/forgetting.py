"""Remove an erased user's name from others' notifications and from stored answers (contract §8)."""

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from actors.chat.records import DELETED
from actors.kernel.store import Store
from actors.stored_json import values_in
from persistence.connection import Connection
from persistence.journal import receipts
from persistence.notifications import notifications
from persistence.notifications.kinds import KINDS, KindRules
from persistence.users import erasure


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
        return {one.user_id for one in found if _rules(one.kind).has_words}, upto

    after: str | None = ""
    while after is not None:
        some, after = await store.transact(forget_some, after)
        tell(some)


def _rules(kind: str) -> KindRules:
    return KINDS.get(kind, KindRules())


def _forgotten(kind: str, data: bytes) -> bytes | None:
    """The data without what the actor is called and has written; None when there is nothing to remove."""
    rules = _rules(kind)
    decoded: dict[str, Any] = values_in(data)
    new = dict(decoded)
    if rules.name_in is not None and decoded.get(rules.name_in) is not None:
        new[rules.name_in] = DELETED
    if rules.text_in is not None and decoded.get(rules.text_in) is not None:
        new[rules.text_in] = None
    return None if new == decoded else msgspec.json.encode(new)


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
