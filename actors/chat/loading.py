"""A conversation's state from its rows, or its snapshot brought up to date with what the journal omits."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from actors.chat.lookups import newest_archived, newest_left_out_ms, oldest_seq, read_tails
from actors.chat.records import line_of
from actors.chat.slimming import is_short
from actors.chat.state import (
    NONE_DUE,
    NONE_SENT,
    NOTHING_LOOKED_UP,
    ArchiveTail,
    Member,
    State,
    decode_summary,
)
from actors.chat.window import WINDOW_LINES, Line, Window
from persistence.chat import conversations, members, messages, polls
from persistence.chat.rows import ConversationRow, MemberRow
from persistence.connection import Connection

VERSION = 3
"""The version of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""


Votes: TypeAlias = dict[str, dict[str, tuple[str, ...]]]
"""{message id: {user id: option ids}}."""


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
    return (await load_many(conn, [conversation_id])).get(conversation_id)


async def load_many(conn: Connection, conversation_ids: Sequence[str]) -> dict[str, State]:
    """{id: what `load` returns}; ids without a conversation are left out."""
    found = await conversations.read_with_summaries(conn, conversation_ids)
    ids = list(found)
    windows, votes = await _read_windows(conn, ids)
    deadlines = await messages.deadlines_of(conn, ids)
    states = {
        id: _state(row, summary, windows[id], _votes_in(windows[id], votes), deadlines[id])
        for id, (row, summary) in found.items()
    }
    return await refresh_many(conn, states)


async def _read_windows(conn: Connection, conversation_ids: Sequence[str]) -> tuple[dict[str, Window], Votes]:
    """{conversation id: its newest messages}, and all votes in the polls among them."""
    newest = await messages.newest_of(conn, conversation_ids, WINDOW_LINES)
    windows = {id: Window(map(line_of, rows)) for id, rows in newest.items()}
    polled = [line.id for line in chain.from_iterable(windows.values()) if line.has_poll]
    return windows, await polls.votes(conn, polled) if polled else {}


def _votes_in(window: Window, votes: Votes) -> Votes:
    return {line.id: votes.get(line.id, {}) for line in window if line.has_poll}


async def _filled(conn: Connection, states: Mapping[str, State]) -> Mapping[str, State]:
    """The states, with all messages that memory has room for: one that was slim when it was saved is whole again."""
    short = [id for id, state in states.items() if state.older_live and is_short(state.window)]
    if not short:
        return states
    windows, votes = await _read_windows(conn, short)
    filled = {
        id: replace(states[id], window=windows[id], votes=_votes_in(windows[id], votes)) for id in short
    }
    return {**states, **filled}


def _state(
    row: ConversationRow,
    encoded: bytes,
    window: Window,
    votes: dict[str, dict[str, tuple[str, ...]]],
    deadlines: dict[str, int],
) -> State:
    """The state without what `refresh_many` adds."""
    summary = decode_summary(encoded)
    return State(
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
        votes=votes,
        deadlines=deadlines,
        last_message=summary.last_message,
        last_event=summary.last_event,
    )


async def refresh(conn: Connection, conversation_id: str, state: State) -> State:
    """The state with members (read markers, muting, names) and the archive as they are in rows now."""
    return (await refresh_many(conn, {conversation_id: state}))[conversation_id]


async def refresh_many(conn: Connection, states: Mapping[str, State]) -> dict[str, State]:
    """{conversation id: what `refresh` returns}."""
    states = await _filled(conn, states)
    joined = await members.of_conversations(conn, list(states))
    tails = await read_tails(conn, {id: oldest_seq(state) for id, state in states.items()})
    return {id: _refreshed(state, joined[id], tails[id]) for id, state in states.items()}


def _refreshed(state: State, joined: Sequence[MemberRow], tail: ArchiveTail) -> State:
    archived = newest_archived(state.window, tail.lines)
    newest_ms = tail.lines[-1].created_at_ms if tail.lines else 0
    return replace(
        state,
        members={row.user_id: _member(row) for row in joined},
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
