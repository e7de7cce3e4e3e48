"""Events as clients see them: as deltas on a live channel, and as items of `GET …/events` (contract §9)."""

from collections.abc import Hashable

from msgspec import Raw

from actors.chat import events
from actors.chat.frames import Audience, Frames
from actors.chat.public import ConversationEvent, OwnChoice, TypingNotice
from actors.chat.records import shown, without_choice
from actors.chat.state import Facts, State
from actors.chat.window import Line
from actors.kernel.facets import Delta, Forgotten
from persistence.journal.journal import JournalRow

ROWS_REWRITTEN = "rows_rewritten"
"""The name of the event that tells viewers who follow rows of a change to older messages that no other event names; it
is never on the wire."""

Journaled = (
    events.MessageCreated
    | events.MessageEdited
    | events.MessageDeleted
    | events.PollVoted
    | events.PollClosed
    | events.MembersAdded
    | events.MemberRemoved
    | events.ConversationChanged
    | events.UserErased
)

_REWRITING = (events.UserErased, events.PastRewritten, events.ArchiveSeen, events.OlderRowsChanged)


def delta(frames: Frames, state: State, event: events.AnyEvent, audience: Audience) -> Delta | None:  # noqa: PLR0911 - a table
    """The event as this audience sees it; None when it is not shown on the conversation's channel.

    Raises:
        Forgotten: the event changes messages that no event on the wire would name.
    """
    if audience.follows_rows and isinstance(event, _REWRITING):
        return Delta(ROWS_REWRITTEN, None)
    match event:
        case events.MessageCreated() | events.MessageDeleted():
            return Delta(wire_name(event), Raw(event.line.record))
        case events.MessageEdited():
            own = _own(state, event, audience)
            return Delta(wire_name(event), Raw(_edited(event.line, own)), own)
        case events.PollVoted() | events.PollClosed():
            return Delta(
                wire_name(event), Raw(without_choice(event.line.record)), _own(state, event, audience)
            )
        case events.ReadMarked():
            # Audiences are shared, so that the reader is named here rather than in the audience.
            return Delta("read", event.notice, to=None if event.everyone else event.user_id)
        case events.ReadTold():
            return Delta("read", event.notice)
        case events.TypingStarted():
            return Delta("typing", TypingNotice(user_id=event.user_id, expires_at_ms=event.expires_at_ms))
        case events.MembersAdded() | events.MemberRemoved() | events.ConversationChanged():
            return _conversation(frames, state, audience)
        case events.MemberRenamed():
            return _conversation(frames, state, audience)
        case events.UserErased() | events.ArchiveSeen(shows=True):
            raise Forgotten
        case _:
            return None


def _conversation(frames: Frames, state: State, audience: Audience) -> Delta:
    seen = frames.seen_with(audience.sight)
    return Delta("conversation_updated", Raw(seen.conversation(seen.facts(state), None)))


def event_key(event: events.AnyEvent, audience: Audience) -> Hashable:
    """The part of an audience that an event's delta depends on: nothing, its votes, or also whom it sees online."""
    match event:
        case events.MessageCreated() | events.MessageDeleted():
            return None
        case events.MessageEdited() | events.PollVoted() | events.PollClosed():
            return audience.choices
        case events.ReadMarked() | events.ReadTold() | events.TypingStarted():
            return None
        case _:
            return audience


def _own(
    state: State, event: events.MessageEdited | events.PollVoted | events.PollClosed, audience: Audience
) -> OwnChoice | None:
    """The audience's choice in the message's poll, empty without a vote; None without a poll, or where its votes are
    not in memory."""
    message_id = event.line.id
    if message_id not in state.votes:
        return None
    return OwnChoice(message_id=message_id, selected=dict(audience.choices).get(message_id, ()))


def _edited(line: Line, own: OwnChoice | None) -> bytes:
    """The whole message after an edit, which replaces what a client has: its poll with the audience's choice selected,
    or with nothing said of it where the choice is not known."""
    if own is None:
        return without_choice(line.record) if line.has_poll else line.record
    # A deadline that has passed is told by an event of its own.
    return shown(line.record, poll_expires_at_ms=None, choice=own.selected, now_ms=0)


def wire_name(event: Journaled) -> events.WireName:
    """The name of a journaled event on the wire."""
    match event:
        case events.MessageCreated():
            return "message_created"
        case events.MessageEdited():
            return "message_edited"
        case events.MessageDeleted():
            return "message_deleted"
        case events.PollVoted() | events.PollClosed():
            return "poll_updated"
        case _:
            return "conversation_updated"


def past_event(frames: Frames, facts: Facts, row: JournalRow, event: Journaled) -> ConversationEvent:
    """Render a journaled event for `GET …/events`. No poll says what the viewer has chosen, which no event of others
    knows: the page of messages has it.

    Args:
        frames: renders for the viewer who asks.
        facts: the conversation as it is now, which a past `conversation_updated` carries.
        row: the journal's row, with the offset.
        event: the decoded event of that row.
    """
    match event:
        case (
            events.MembersAdded()
            | events.MemberRemoved()
            | events.ConversationChanged()
            | events.UserErased()
        ):
            data = frames.conversation(facts, None)
        case _:
            data = without_choice(event.line.record)
    return ConversationEvent(offset=row.seq, event=wire_name(event), data=Raw(data), at_ms=row.at_ms)
