"""The inbox as a view: a user's conversations, newest activity first, and the totals over all of them.

The view has no rows of its own. Entries come from rows at first and then from the live conversations; at most 200 are
shown, and of the rest only the counts are kept. Heads are encoded once per conversation and shared with every other
inbox.

Who takes events is told of each conversation that shows otherwise than before. What becomes of those that are only
counted, no event can tell: a snapshot is sent where their number or their counts change.

Three sorts of sources change it: the id of a conversation; `face:<user id>`, which says that the user is shown
differently now (online or offline); and `speaker:<user id>`, which says so for the conversations where strangers see
the user. Nothing is read for the latter two; conversations that show the user are rendered again, from the same state.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from actors.chat.commands import AnyCommand
from actors.chat.frames import Frames
from actors.chat.inbox_state import NO_REST, Changed, Counted, Entry, InboxState, Recounted, Reread
from actors.chat.public import ConversationGone
from actors.chat.state import State, standing
from actors.chat.stored import counts_of_row, facts_of_row, standing_of_row
from actors.kernel.facets import Delta, Forgotten, Rendering
from actors.kernel.kind import Kind, Peek, View
from actors.own_views import owner_only
from actors.pages import fitting
from persistence.chat import conversations
from persistence.connection import Connection

NAME = "inbox"
"""The name of the view and of its channel."""

SHOWN = 200
"""Conversations in a snapshot: the largest list (service description §8)."""

COUNTED = 5_000
"""Conversations beyond those shown whose counts are kept for the totals. No user has more; it bounds the read."""


FACE = "face:"
"""Prefix of a source that names a user whose presence, as the viewer sees it, may have changed."""

SPEAKER = "speaker:"
"""Prefix of a source that names such a user who is no friend of the viewer's: they show only where they have made the
conversation or written in it, and a frame that shows nothing new would tell of a block."""


def inbox_view(frames: Frames, conversation: Kind[State, AnyCommand]) -> View[InboxState]:
    """Make the view that the kernel runs."""

    def take_live(
        state: InboxState, sources: AbstractSet[str], peek: Peek
    ) -> tuple[InboxState, AbstractSet[str]]:
        return take(frames, conversation, state, sources, peek)

    def render(state: InboxState, _audience: None) -> Raw:
        return Raw(snapshot(frames.seen_by(state.user_id), state))

    def render_event(state: InboxState, event: Changed | Recounted, _audience: None) -> Delta | None:
        if isinstance(event, Recounted):
            raise Forgotten
        return changed(frames.seen_by(state.user_id), state, event.conversation_id)

    return View(
        name=NAME,
        load=load,
        load_many=load_many,
        reread=reread,
        take=take_live,
        absorb=absorb,
        rendering=Rendering(audience=owner_only, render=render, render_event=render_event),
        events=events,
        differing=differing,
    )


async def load(conn: Connection, user_id: str) -> InboxState:
    """Read a user's inbox from rows; empty for a user without conversations."""
    return (await load_many(conn, [user_id]))[user_id]


async def load_many(conn: Connection, user_ids: Sequence[str]) -> dict[str, InboxState]:
    """{user id: what `load` returns}."""
    lists = await conversations.lists_of(conn, user_ids, limit=SHOWN)
    found: dict[str, InboxState] = {}
    for user_id, rows in lists.items():
        entries = tuple(Entry(facts_of_row(row), standing_of_row(row)) for row in rows)
        rest = NO_REST
        if len(entries) == SHOWN:
            below = await conversations.counts_of(conn, user_id, after=entries[-1].place, limit=COUNTED)
            rest = {row.conversation_id: Counted(row.updated_at_ms, *counts_of_row(row)) for row in below}
        found[user_id] = InboxState(user_id, entries, rest)
    return found


async def reread(conn: Connection, user_id: str, sources: AbstractSet[str]) -> Reread:
    """Read entries of the inbox again.

    Args:
        sources: the ids of the conversations to read.
    """
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
    """Update the inbox from live conversations.

    Args:
        sources: what has changed (see the module).
        peek: the state of a live conversation, None when it is not live.

    Returns: the new inbox, and the conversations that must be read from rows.
    """
    found: dict[str, Entry | None] = {}
    unread: set[str] = set()
    for id in sources:
        if id.startswith((FACE, SPEAKER)):
            continue
        live = peek(conversation, id)
        if live is None:
            unread.add(id)
            continue
        member = live.members.get(state.user_id)
        found[id] = None if member is None else Entry(frames.facts(live), standing(live, member))
    merged = merge(state, found)
    # The user has left a conversation, so that there is room for one that was only counted.
    room = SHOWN - len(merged.entries)
    if room > 0 and merged.rest:
        by_activity = sorted(merged.rest, key=lambda id: (merged.rest[id].updated_at_ms, id), reverse=True)
        unread.update(by_activity[:room])
    return merged, unread


def events(before: InboxState, after: InboxState, sources: Collection[str]) -> Sequence[Changed | Recounted]:
    """List the conversations that show otherwise than before, each once, as events for delta subscribers.

    Args:
        sources: what may have changed (see the module).
    """
    if after.rest is not before.rest and after.rest != before.rest:
        return (Recounted(),)
    was, now = _entries(before, sources), _entries(after, sources)
    shown: dict[str, None] = {}
    for source in sources:
        if source.startswith(FACE):
            shown.update(dict.fromkeys(_showing(after, source.removeprefix(FACE))))
        elif source.startswith(SPEAKER):
            user_id = source.removeprefix(SPEAKER)
            shown.update(dict.fromkeys(_showing(after, user_id, also_silent=False)))
        elif now.get(source) != was.get(source):
            shown[source] = None
    return [Changed(id) for id in shown]


def differing(shown: InboxState, stored: InboxState) -> Collection[str]:
    """The ids of the conversations that two states of an inbox do not show, or count, alike."""
    was, now = (
        {**{entry.facts.id: entry for entry in state.entries}, **state.rest} for state in (shown, stored)
    )
    return [id for id in was.keys() | now.keys() if was.get(id) != now.get(id)]


def _showing(state: InboxState, user_id: str, *, also_silent: bool = True) -> Iterator[str]:
    """The ids of conversations in whose head a user stands."""
    for entry in state.entries:
        if (also_silent or user_id not in entry.facts.silent) and any(
            id == user_id for id, _ in entry.facts.participants
        ):
            yield entry.facts.id


def absorb(state: InboxState, read: Reread) -> InboxState:
    """Take in entries that `reread` has read."""
    return merge(state, read.entries)


def merge(state: InboxState, found: dict[str, Entry | None]) -> InboxState:
    """Return the inbox with the given entries replaced, or removed where they are None."""
    if not found:
        return state
    entries = [entry for entry in state.entries if entry.facts.id not in found]
    for entry in found.values():
        if entry is not None:
            _insert(entries, entry)
    rest = state.rest
    if len(entries) > SHOWN or not rest.keys().isdisjoint(found):
        rest = {id: counts for id, counts in rest.items() if id not in found}
        rest.update(_counted(entries[SHOWN:]))
    return replace(state, entries=tuple(entries[:SHOWN]), rest=rest)


def snapshot(frames: Frames, state: InboxState) -> bytes:
    """Render the InboxSnapshot: the newest conversations that fit into one page, whether there are more, and the
    totals over all."""
    shown = fitting([frames.conversation(entry.facts, entry.own) for entry in state.entries], len)
    unread = mentions = 0
    for entry in state.entries:
        unread += entry.own.unread
        mentions += entry.own.mentions
    for one in state.rest.values():
        unread += one.unread
        mentions += one.mentions
    has_more = bool(state.rest) or len(shown) < len(state.entries)
    head = b'{"type":"inbox_snapshot","conversations":[%b],"totals":{"unread":%d,"mentions":%d},"hasMore":%b}'
    return head % (b",".join(shown), unread, mentions, b"true" if has_more else b"false")


def listed(state: InboxState, after: tuple[int, str] | None, limit: int) -> Sequence[Entry] | None:
    """Return one page of the conversation list from memory, or None where the page needs rows.

    Args:
        after: (updated_at_ms, id) of the last conversation of the previous page; None for the first page.
        limit: most conversations to return.
    """
    below = [entry for entry in state.entries if after is None or entry.place < after]
    if len(below) < limit and state.rest:
        return None
    return below[:limit]


def changed(frames: Frames, state: InboxState, conversation_id: str) -> Delta | None:
    """Render the `conversation_updated` of one conversation; None for one that is only counted."""
    for entry in state.entries:
        if entry.facts.id == conversation_id:
            return Delta("conversation_updated", Raw(frames.conversation(entry.facts, entry.own)))
    if conversation_id in state.rest:
        return None
    return Delta("conversation_updated", ConversationGone(id=conversation_id))


def _entries(state: InboxState, ids: Collection[str]) -> dict[str, Entry]:
    """{conversation id: its entry} of those of these conversations that are not only counted, in one walk."""
    return {entry.facts.id: entry for entry in state.entries if entry.facts.id in ids}


def _insert(entries: list[Entry], entry: Entry) -> None:
    """Put an entry where it belongs, nearly always at the front: it is there because something has just happened."""
    place, at = entry.place, 0
    while at < len(entries) and entries[at].place > place:
        at += 1
    entries.insert(at, entry)


def _counted(entries: Sequence[Entry]) -> Iterable[tuple[str, Any]]:
    for entry in entries:
        yield entry.facts.id, Counted(entry.facts.updated_at_ms, entry.own.unread, entry.own.mentions)
