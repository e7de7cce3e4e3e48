"""Taking an erased user's name out of a conversation's journal, which tells clients what they have missed (contract
§4, §8). To be done once the conversation itself has forgotten them: later events do not have the name.
"""

import msgspec
from msgspec.structs import replace

from actors.chat import events, records
from actors.chat.deltas import Journaled
from actors.chat.records import DELETED
from actors.chat.window import Line
from actors.kernel.store import Store
from persistence.chat import conversations
from persistence.connection import Connection
from persistence.journal import journal

AT_ONCE = 500
"""Events that are rewritten in one transaction."""

_decode = msgspec.msgpack.Decoder(events.AnyEvent).decode
_encode = msgspec.msgpack.Encoder().encode


async def forget_in_journal(store: Store, conversation_id: str, user_id: str) -> None:
    """Rewrite the events of a conversation that name a user; to be repeated when it was interrupted.

    Raises:
        PersistenceError: the database is away.
    """

    async def forget_some(conn: Connection, after: int) -> int | None:
        rows = await journal.events_holding(
            conn, conversations.KIND, conversation_id, user_id.encode(), after=after, limit=AT_ONCE
        )
        changed = {row.seq: event for row in rows if (event := _forgotten(row.event, user_id)) is not None}
        if changed:
            await journal.rewrite_events(conn, conversations.KIND, conversation_id, changed)
        return rows[-1].seq if len(rows) == AT_ONCE else None

    after: int | None = 0
    while after is not None:
        after = await store.transact(forget_some, after)


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
