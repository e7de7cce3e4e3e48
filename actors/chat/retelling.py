"""Rewrites what the journal says of a message when its text is replaced or taken back (contract §4), so that clients
that ask what has happened, or come back after a while, get no text that is gone. Events keep their offsets and types.

This happens in the transaction of the change, which the turns of others share, and ten thousand events may carry the
message of one poll. So only the newest of these events are rewritten, as far as the bounds below reach; older ones are
deleted, with all events before them, and a client that asks for those begins with a fresh page.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from actors.chat import events, records
from actors.chat.deltas import Journaled
from actors.chat.lookups import RETOLD_EVENTS
from actors.chat.window import Line
from persistence.chat import conversations
from persistence.connection import Connection
from persistence.journal import rewriting
from persistence.journal.turn import Turn

RETOLD_BYTES = 256 * 1024
"""Most bytes of events that are rewritten for one turn; of each, the larger of its old and its new size counts."""

_decode = msgspec.msgpack.Decoder(events.AnyEvent).decode
_encode = msgspec.msgpack.Encoder().encode


# They carry the message that they tell of.
_TELLING = (
    events.MessageCreated,
    events.MessageEdited,
    events.MessageDeleted,
    events.PollVoted,
    events.PollClosed,
)

Told = dict[str, tuple[Line, set[int]]]
"""{message id: (its last line, the offsets of all events that tell of it)}."""


def retellings(turns: Sequence[Turn]) -> dict[str, Told]:
    """{conversation id: what is to be rewritten}: all events that carry a message before its `MessageRetold`."""
    retold: dict[str, Told] = {}
    # {(conversation id, message id): (offset, what is said of it) in these very turns}
    told: dict[tuple[str, str], list[tuple[int, Line]]] = {}
    for turn in turns:
        offset = turn.seq
        for event in turn.events:
            offset += event.journaled
            if isinstance(event, events.MessageRetold):
                of_conversation = retold.setdefault(turn.id, {})
                _, before = of_conversation.get(event.line.id, (None, set[int]()))
                own = [at for at, said in told.get((turn.id, event.line.id), ()) if said != event.line]
                of_conversation[event.line.id] = event.line, before.union(event.offsets, own)
            for line in _lines_of(event):
                told.setdefault((turn.id, line.id), []).append((offset, line))
    return retold


def _lines_of(event: object) -> Sequence[Line]:
    """The messages that an event tells of."""
    if isinstance(event, events.UserErased):
        return event.lines
    return (event.line,) if isinstance(event, _TELLING) else ()


async def retell(
    conn: Connection, conversation_id: str, told: Mapping[str, tuple[Line, Iterable[int]]]
) -> None:
    """Rewrite events of a conversation and drop its snapshots, inside the transaction of what has changed.

    Args:
        told: the messages and events that `retellings` has found for this conversation.
    """
    line_at = {offset: line for line, offsets in told.values() for offset in offsets}
    sizes = await rewriting.sizes_at(conn, conversations.KIND, conversation_id, list(line_at))
    kept, gone = affordable(sizes, line_at)
    if gone:
        await rewriting.forget_until(conn, conversations.KIND, conversation_id, gone)
    rows = await rewriting.read_at(conn, conversations.KIND, conversation_id, kept)
    changed = {row.seq: _encode(retold(_journaled(row.event), line_at[row.seq])) for row in rows}
    await rewriting.rewrite_events(conn, conversations.KIND, conversation_id, changed)


def affordable(sizes: Mapping[int, int], line_at: Mapping[int, Line]) -> tuple[list[int], int]:
    """The offsets of the events to rewrite, newest first, and the offset up to which all are deleted; 0 for none.

    Args:
        sizes: {offset: bytes} of the events that the journal still has.
        line_at: {offset: the message that the event is to tell of}.
    """
    left = RETOLD_BYTES
    kept: list[int] = []
    for offset in sorted(sizes, reverse=True):
        left -= max(sizes[offset], len(line_at[offset].record))
        if left < 0 or len(kept) == RETOLD_EVENTS:
            return kept, offset
        kept.append(offset)
    return kept, 0


def retold(event: Journaled, line: Line) -> Journaled:
    """The event, with this version of the message in place of the one that it holds."""
    match event:
        case events.MessageCreated() | events.MessageEdited():
            if event.line.id != line.id:
                return event
            message = records.decode(line.record)
            preview = "" if message.deleted_at is not None else records.preview(message)
            return replace(event, line=line, preview=preview, mentioned=records.mentioned(message))
        case events.MessageDeleted() | events.PollVoted() | events.PollClosed():
            return replace(event, line=line) if event.line.id == line.id else event
        case events.UserErased():
            return replace(event, lines=tuple(line if one.id == line.id else one for one in event.lines))
        case _:
            return event


def _journaled(encoded: bytes) -> Journaled:
    event = _decode(encoded)
    if not isinstance(event, Journaled):
        raise TypeError(f"{type(event).__name__} does not belong into the journal")
    return event
