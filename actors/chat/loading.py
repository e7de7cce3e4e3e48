"""A conversation's state from its rows, or its snapshot brought up to date with what the journal omits."""

import msgspec
from msgspec.structs import replace

from actors.chat.lookups import newest_archived, newest_left_out_ms, oldest_seq, read_tail
from actors.chat.records import line_of
from actors.chat.state import (
    NONE_DUE,
    NONE_SENT,
    NOTHING_LOOKED_UP,
    Member,
    State,
    decode_summary,
)
from actors.chat.window import WINDOW_LINES, Line, Window
from persistence.chat import conversations, members, messages, polls
from persistence.chat.rows import MemberRow
from persistence.connection import Connection

VERSION = 3
"""The version of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""


def _encode_window(window: Window) -> list[Line]:
    return list(window)


def _decode_window(_: type, lines: object) -> Window:
    return Window(msgspec.convert(lines, list[Line]))


_encoder = msgspec.msgpack.Encoder(enc_hook=_encode_window)
_decoder = msgspec.msgpack.Decoder(State, dec_hook=_decode_window)


def dump(state: State) -> bytes:
    """Encode the state as a snapshot, without the fields that live in memory only."""
    return _encoder.encode(
        replace(
            state, read_notices_sent_ms={}, read_notices_due={}, looked_up=NOTHING_LOOKED_UP, doubtful=False
        )
    )


def restore(kept: bytes) -> State:
    """Decode the state that `dump` has encoded."""
    return replace(_decoder.decode(kept), read_notices_sent_ms=NONE_SENT, read_notices_due=NONE_DUE)


async def load(conn: Connection, conversation_id: str) -> State | None:
    """The state from rows alone; None when there is no such conversation."""
    found = await conversations.read_with_summary(conn, conversation_id)
    if found is None:
        return None
    row, summary = found[0], decode_summary(found[1])
    window = Window(line_of(one) for one in await messages.newest(conn, conversation_id, WINDOW_LINES))
    polled = [line.id for line in window if line.has_poll]
    votes = await polls.votes(conn, polled) if polled else {}
    state = State(
        id=row.id,
        kind="direct" if row.kind == "direct" else "group",
        title=row.title,
        owner_id=row.owner_id,
        created_at_ms=row.created_at_ms,
        updated_at_ms=summary.updated_at_ms,
        message_seq=summary.message_seq,
        last_ms=summary.last_ms,
        members={},
        window=window,
        votes={id: votes.get(id, {}) for id in polled},
        deadlines=await messages.deadlines(conn, conversation_id),
        last_message=summary.last_message,
        last_event=summary.last_event,
    )
    return await refresh(conn, conversation_id, state)


async def refresh(conn: Connection, conversation_id: str, state: State) -> State:
    """The state with members (read markers, muting, names) and the archive as they are in rows now."""
    found = {row.user_id: _member(row) for row in await members.of_conversation(conn, conversation_id)}
    tail = await read_tail(conn, conversation_id, oldest_seq(state))
    archived = newest_archived(state.window, tail.lines)
    newest_ms = tail.lines[-1].created_at_ms if tail.lines else 0
    return replace(
        state,
        members=found,
        looked_up=NOTHING_LOOKED_UP,
        archived=archived,
        older_live=tail.older_live,
        older_archived_ms=newest_left_out_ms(tail.lines, archived),
        last_ms=max(state.last_ms, newest_ms),
    )


def _member(row: MemberRow) -> Member:
    return Member(
        user_id=row.user_id,
        name=row.name,
        joined_at_ms=row.joined_at_ms,
        joined_seq=row.joined_seq,
        muted=row.muted,
        read_seq=row.read_seq,
        read_at_ms=row.read_at_ms,
        own_at_read=row.own_at_read,
        sent=row.sent,
        mentions=row.mentions,
        spoke=row.spoke,
    )
