"""Taking an erased user's name out of the journals of conversations, which tell clients what they have missed (contract
§4, §8). To be done once memory and rows have forgotten them: later events do not have the name.
"""

from collections.abc import Awaitable, Callable

import msgspec
from msgspec.structs import replace

from actors.chat import events, records
from actors.chat.commands import TellArchive, TellErased, Told
from actors.chat.deltas import Journaled
from actors.chat.records import DELETED
from actors.chat.window import Line
from actors.kernel.store import Store
from persistence.chat import conversations
from persistence.connection import Connection
from persistence.journal import naming, rewriting
from persistence.journal.naming import Place

AT_ONCE = 100
"""Events that are rewritten in one transaction, which keeps the conversation's turns waiting."""

Tell = Callable[[str, Told], Awaitable[None]]
"""Has the conversation with this id, live or not, take a command; returns once its turn is committed."""

_decode = msgspec.msgpack.Decoder(events.AnyEvent).decode
_encode = msgspec.msgpack.Encoder().encode


async def forget_in_journals(store: Store, user_id: str, tell: Tell) -> None:
    """Take a user's name out of the journals and snapshots of all conversations that hold their id, those that they
    have left among them, page by page; to be repeated from the start when it was interrupted.

    Args:
        tell: has a conversation take a command; called before its journal is rewritten, so that what it journals and
            saves from then on does not have the name.

    Raises:
        PersistenceError: the database cannot be asked. Cancellation leaves the rest to the next run.
    """
    for table in (naming.EVENTS, naming.SNAPSHOTS):
        done: str | None = None
        place: Place | None = naming.FIRST
        while place is not None:
            found, place = await store.read(naming.page, table, conversations.KIND, user_id.encode(), place)
            for conversation_id in found:
                # The last one of a page may be the first of the next.
                if conversation_id != done:
                    await tell(conversation_id, TellErased(user_id))
                    # Archived lines are in memory, and in snapshots, too; their change is heard of some time later.
                    await tell(conversation_id, TellArchive())
                    await _forget_in_journal(store, conversation_id, user_id)
                    done = conversation_id


async def _forget_in_journal(store: Store, conversation_id: str, user_id: str) -> None:
    async def forgotten(conn: Connection, after: int) -> tuple[dict[int, tuple[bytes, bytes]], int | None]:
        rows = await rewriting.events_holding(
            conn, conversations.KIND, conversation_id, user_id.encode(), after=after, limit=AT_ONCE
        )
        changed = {
            row.seq: (row.event, event)
            for row in rows
            if (event := _forgotten(row.event, user_id)) is not None
        }
        return changed, rows[-1].seq if len(rows) == AT_ONCE else None

    after: int | None = 0
    while after is not None:
        # Read before the transaction, which locks the head: the turns of all who commit together would wait with it.
        changed, upto = await store.read(forgotten, after)
        if await store.transact(naming.rewrite, conversations.KIND, conversation_id, changed) == len(changed):
            after = upto


def erased_line(line: Line, user_id: str) -> Line | None:
    """The message with the name of an erased user replaced; None when it does not hold the name."""
    record = erased_record(line.record, user_id)
    if record is None:
        return None
    attached = () if line.sender_id == user_id else line.attachment_ids
    return replace(line, record=record, attachment_ids=attached)


def erased_record(record: bytes, user_id: str) -> bytes | None:
    """The record with the name of an erased user replaced; None when it does not hold the name."""
    if user_id.encode() not in record:
        return None
    message = records.decode(record)
    changed = records.erased(message, user_id)
    return None if changed is message else records.encode(changed)


def _forgotten(encoded: bytes, user_id: str) -> bytes | None:
    event = _decode(encoded)
    if not isinstance(event, Journaled):
        raise TypeError(f"{type(event).__name__} does not belong into the journal")
    changed = _erased(event, user_id)
    return None if changed == event else _encode(changed)


def _erased(event: Journaled, user_id: str) -> Journaled:
    match event:
        case events.MessageCreated() | events.MessageEdited():
            line = erased_line(event.line, user_id)
            if line is None:
                return event
            return replace(event, line=line, preview=records.preview(records.decode(line.record)))
        case events.MessageDeleted() | events.PollVoted() | events.PollClosed():
            return replace(event, line=erased_line(event.line, user_id) or event.line)
        case events.MembersAdded():
            members = (replace(one, name=DELETED) if one.user_id == user_id else one for one in event.members)
            return replace(event, members=tuple(members))
        case events.UserErased():
            return replace(event, lines=tuple(erased_line(one, user_id) or one for one in event.lines))
        case _:
            return event
