"""Erasing a user from parties (contract §8): live ones call them `deleted`, and so do journals, which tell clients what
they have missed."""

from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from actors.kernel.store import Store
from actors.party import events
from actors.party.apply import invite_calling
from actors.party.events import AnyEvent
from actors.party.state import DELETED
from persistence.connection import Connection
from persistence.journal import rewriting
from persistence.party import naming, rows

AT_ONCE = 500
"""Events that are rewritten in one transaction."""

Tell = Callable[[str], Awaitable[None]]
"""Has the party with this id, live or not, take `TellErased`; returns once its turn is committed."""

_decode: Callable[[bytes], AnyEvent] = msgspec.msgpack.Decoder(AnyEvent).decode
_encode = msgspec.msgpack.Encoder().encode


async def forget_in_parties(store: Store, user_id: str, tell: Tell) -> None:
    """Take a user's name out of all parties, page by page; to be repeated from the start when it was interrupted.

    Raises:
        PersistenceError: the database cannot be asked. Cancellation leaves the rest to the next run.
    """
    after: str | None = ""
    while after is not None:
        upto = await store.read(naming.page_end, after)
        for party_id in await store.read(naming.in_page, user_id, after, upto):
            # The party first: what it journals from then on does not have the name.
            await tell(party_id)
            await _forget_in_journal(store, party_id, user_id)
        after = upto


async def _forget_in_journal(store: Store, party_id: str, user_id: str) -> None:
    async def forget_some(conn: Connection, after: int) -> int | None:
        found = await rewriting.events_holding(
            conn, rows.KIND, party_id, user_id.encode(), after=after, limit=AT_ONCE
        )
        # Snapshots go with it, also where nothing in the journal has the name any more.
        changed = {row.seq: new for row in found if (new := _forgotten(row.event, user_id)) is not None}
        await rewriting.rewrite_events(conn, rows.KIND, party_id, changed)
        return found[-1].seq if len(found) == AT_ONCE else None

    after: int | None = 0
    while after is not None:
        after = await store.transact(forget_some, after)


def _forgotten(encoded: bytes, user_id: str) -> bytes | None:
    """The event without the user's name; None when it is so already."""
    event = _decode(encoded)
    match event:
        case events.InviteSent():
            changed: AnyEvent = replace(event, invite=invite_calling(event.invite, user_id, DELETED))
        case events.MemberJoined() if event.member.user_id == user_id:
            changed = replace(event, member=replace(event.member, name=DELETED))
        case _:
            return None
    return None if changed == event else _encode(changed)
