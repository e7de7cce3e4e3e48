"""The inbox as a view: a user's conversations, newest activity first, and the totals over all of them.

It owns nothing. Entries come from rows at first and then from the live conversations; at most 200 are shown,
of the rest only the counts are kept. Heads are encoded once per conversation and shared with every other
inbox.

Two sorts of sources change it: a conversation, and `face:<user id>`, which nothing is read for: that user appears
otherwise now, wherever the inbox shows them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from actors.chat.commands import AnyCommand, InboxViewer
from actors.chat.frames import Frames
from actors.chat.public import ConversationGone
from actors.chat.reading import StoredConversation
from actors.chat.state import State, standing
from actors.chat.stored import counts_of_row, facts_of_row, standing_of_row
from actors.errors import Forbidden
from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Kind, Peek, View
from actors.pages import fitting
from persistence.chat import conversations
from persistence.connection import Connection

NAME = "inbox"
"""The view's name, and the channel's."""

SHOWN = 200
"""Conversations in a snapshot: the largest list (service description §8)."""

COUNTED = 5_000
"""Conversations below those that still count in the totals; nobody has more, and every queue has a bound."""


FACE = "face:"
"""Begins a source that names a user who appears otherwise now."""


class Changed(Event, frozen=True):
    """A conversation is shown otherwise now, or no longer."""

    conversation_id: str


class Entry(StoredConversation, frozen=True):
    """A conversation in the inbox, with the owner's own standing."""


class Counted(msgspec.Struct, frozen=True):
    """A conversation too far down to be shown."""

    updated_at_ms: int
    unread: int
    mentions: int


class InboxState(msgspec.Struct, frozen=True):
    """One user's inbox.

    Args:
        entries: at most 200, newest activity first.
        rest: {conversation id: counts} of those below.
    """

    user_id: str
    entries: tuple[Entry, ...]
    rest: dict[str, Counted]


class Reread(msgspec.Struct, frozen=True):
    """What rows say of some conversations; None for those that the user is not in (any more)."""

    entries: dict[str, Entry | None]


def inbox_view(frames: Frames, conversation: Kind[State, AnyCommand]) -> View[InboxState]:
    """The record of the view."""

    def take_live(
        state: InboxState, sources: AbstractSet[str], peek: Peek
    ) -> tuple[InboxState, AbstractSet[str]]:
        return take(frames, conversation, state, sources, peek)

    def render(state: InboxState, _audience: None) -> Raw:
        return Raw(snapshot(frames.seen_by(state.user_id), state))

    def render_event(state: InboxState, event: Changed, _audience: None) -> Delta | None:
        return changed(frames.seen_by(state.user_id), state, event.conversation_id)

    return View(
        name=NAME,
        load=load,
        reread=reread,
        take=take_live,
        absorb=absorb,
        rendering=Rendering(audience=audience, render=render, render_event=render_event),
        events=events,
    )


async def load(conn: Connection, user_id: str) -> InboxState:
    """The inbox from rows; everybody has one."""
    rows = await conversations.list_of(conn, user_id, limit=SHOWN)
    entries = tuple(Entry(facts_of_row(row), standing_of_row(row)) for row in rows)
    rest = {}
    if len(entries) == SHOWN:
        below = await conversations.counts_of(conn, user_id, after=entries[-1].place, limit=COUNTED)
        rest = {row.conversation_id: Counted(row.updated_at_ms, *counts_of_row(row)) for row in below}
    return InboxState(user_id, entries, rest)


async def reread(conn: Connection, user_id: str, sources: AbstractSet[str]) -> Reread:
    """The named conversations from rows."""
    found: dict[str, Entry | None] = dict.fromkeys(sources)
    for row in await conversations.named(conn, user_id, list(sources)):
        found[row.conversation.id] = Entry(facts_of_row(row), standing_of_row(row))
    return Reread(found)


def take(
    frames: Frames,
    conversation: Kind[State, AnyCommand],
    state: InboxState,
    sources: AbstractSet[str],
    peek: Peek,
) -> tuple[InboxState, AbstractSet[str]]:
    """The inbox with what live conversations say, and the sources that must be read."""
    found: dict[str, Entry | None] = {}
    unread: set[str] = set()
    for id in sources:
        if id.startswith(FACE):
            continue
        live: State | None = peek(conversation, id)
        if live is None:
            unread.add(id)
            continue
        member = live.members.get(state.user_id)
        found[id] = None if member is None else Entry(frames.facts(live), standing(live, member))
    merged = merge(state, found)
    # Somebody left a conversation, and there is room for one that was only counted.
    room = SHOWN - len(merged.entries)
    if room > 0 and merged.rest:
        by_activity = sorted(merged.rest, key=lambda id: (merged.rest[id].updated_at_ms, id), reverse=True)
        unread.update(by_activity[:room])
    return merged, unread


def events(_before: InboxState, after: InboxState, sources: Collection[str]) -> Sequence[Changed]:
    """What viewers are told of: each conversation once."""
    return [Changed(id) for id in dict.fromkeys(id for source in sources for id in _shown_in(after, source))]


def _shown_in(state: InboxState, source: str) -> Iterator[str]:
    if not source.startswith(FACE):
        yield source
        return
    user_id = source.removeprefix(FACE)
    for entry in state.entries:
        if any(id == user_id for id, _ in entry.facts.participants):
            yield entry.facts.id


def absorb(state: InboxState, read: Reread) -> InboxState:
    """The inbox with what rows say."""
    return merge(state, read.entries)


def merge(state: InboxState, found: dict[str, Entry | None]) -> InboxState:
    """The inbox with some entries replaced or, where they are None, taken out."""
    if not found:
        return state
    entries = [entry for entry in state.entries if entry.facts.id not in found]
    entries += [entry for entry in found.values() if entry is not None]
    entries.sort(key=_place, reverse=True)
    rest = state.rest
    if len(entries) > SHOWN or not rest.keys().isdisjoint(found):
        rest = {id: counts for id, counts in rest.items() if id not in found}
        rest.update(_counted(entries[SHOWN:]))
    return replace(state, entries=tuple(entries[:SHOWN]), rest=rest)


def audience(state: InboxState, viewer: InboxViewer) -> None:
    """All viewers of an inbox are its owner, and see the same.

    Raises:
        Forbidden: the viewer is another user.
    """
    if viewer.user_id != state.user_id:
        raise Forbidden


def snapshot(frames: Frames, state: InboxState) -> bytes:
    """The InboxSnapshot: the newest conversations as far as a page has room, and the totals of all."""
    shown = fitting([frames.conversation(entry.facts, entry.own) for entry in state.entries], len)
    unread = sum(entry.own.unread for entry in state.entries) + sum(one.unread for one in state.rest.values())
    mentions = sum(entry.own.mentions for entry in state.entries)
    mentions += sum(one.mentions for one in state.rest.values())
    return b'{"type":"inbox_snapshot","conversations":[%b],"totals":{"unread":%d,"mentions":%d}}' % (
        b",".join(shown),
        unread,
        mentions,
    )


def listed(state: InboxState, after: tuple[int, str] | None, limit: int) -> Sequence[Entry] | None:
    """A part of the list, as rows would give it; None where it goes on among those that are only counted.

    Args:
        after: the place of the last one already seen; None for the first part.
        limit: at most so many.
    """
    below = [entry for entry in state.entries if after is None or entry.place < after]
    if len(below) < limit and state.rest:
        return None
    return below[:limit]


def changed(frames: Frames, state: InboxState, conversation_id: str) -> Delta | None:
    """What delta subscribers are told of one conversation; nothing of one that is only counted."""
    for entry in state.entries:
        if entry.facts.id == conversation_id:
            return Delta("conversation_updated", Raw(frames.conversation(entry.facts, entry.own)))
    if conversation_id in state.rest:
        return None
    return Delta("conversation_updated", ConversationGone(id=conversation_id))


def _place(entry: Entry) -> tuple[int, str]:
    return entry.place


def _counted(entries: Sequence[Entry]) -> Iterable[tuple[str, Any]]:
    for entry in entries:
        yield entry.facts.id, Counted(entry.facts.updated_at_ms, entry.own.unread, entry.own.mentions)
