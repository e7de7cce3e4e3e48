"""The conversation as an owner: the record that the kernel runs, and the table of who decides on what.

`chat_kinds` makes it together with the inbox, because each speaks of the other.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from msgspec import Raw

from actors.chat import commands, erasing, events, loading, rules_members, rules_messages, rules_polls
from actors.chat.apply import apply
from actors.chat.commands import AnyCommand, ChatViewer
from actors.chat.deltas import delta, event_key
from actors.chat.events import AnyEvent
from actors.chat.frames import Audience, Frames, OnlineAmong, audience
from actors.chat.inbox import NAME as INBOX
from actors.chat.inbox import inbox_view
from actors.chat.inbox_state import InboxState
from actors.chat.lookups import LOOKUPS
from actors.chat.persisting import persist, plan
from actors.chat.public import ReadMarker
from actors.chat.sight import Relationships, Strangers
from actors.chat.slimming import SLIMMING
from actors.chat.state import State, find_line, standing, summary_of
from actors.chat.window import Line
from actors.errors import ConversationNotFound
from actors.kernel.facets import Deadlines, Followers, Rendering, Together, Unjournaled
from actors.kernel.kind import Kind, View

NAME = "conversation"
"""The kind's name: in the journal, in channel names, in statistics."""


@dataclass(frozen=True, slots=True)
class ChatKinds:
    """The kind and the view that the kernel runs for chat, and what makes the same bytes for requests.

    Args:
        conversation: the kind of a conversation.
        inbox: the view of all conversations of a user.
        frames: makes the bytes that viewers get.
        in_doubt: functions that are called with the id of a conversation whose last turn may or may not have been
            committed, while its state is still the one before that turn; they must neither wait nor raise.
    """

    conversation: Kind[State, AnyCommand]
    inbox: View[InboxState]
    frames: Frames
    in_doubt: list[Callable[[str], None]]


Said = Callable[[str, str, int], None]
"""Called with the id of the sender, the id of the other participant, and the time in epoch milliseconds."""


def chat_kinds(
    online_among: OnlineAmong,
    now_ms: Callable[[], int],
    relationships: Relationships | None = None,
    said: Said | None = None,
) -> ChatKinds:
    """Make the kind and the view of chat.

    Args:
        online_among: returns those of the given users who are online, whenever a frame is made.
        now_ms: returns epoch milliseconds.
        relationships: knows who are friends, who hides and who blocks; without it all users are strangers.
        said: called for each message of a direct conversation.
    """
    known = relationships or Strangers()
    frames = Frames(online_among, now_ms, known)
    in_doubt: list[Callable[[str], None]] = []
    conversation = conversation_kind(frames, known, said, in_doubt)
    return ChatKinds(conversation, inbox_view(frames, conversation), frames, in_doubt)


def conversation_kind(
    frames: Frames,
    relationships: Relationships,
    said: Said | None = None,
    in_doubt: Sequence[Callable[[str], None]] = (),
) -> Kind[State, AnyCommand]:
    """Make the kind of a conversation.

    Args:
        frames: renders conversations for their members.
        relationships: knows who blocks whom.
        said: called for each message of a direct conversation.
        in_doubt: the functions of `ChatKinds.in_doubt`.
    """

    def doubt(conversation_id: str) -> None:
        for listener in in_doubt:
            listener(conversation_id)

    return Kind(
        name=NAME,
        version=loading.VERSION,
        events=AnyEvent,
        load=loading.load,
        dump=loading.dump,
        restore=loading.restore,
        decide=partial(decide, relationships),
        apply=apply,
        answer=partial(answer, frames),
        persist=persist,
        plan=plan,
        summary=summary_of,
        unknown=ConversationNotFound,
        rendering=_rendering(frames),
        lookups=LOOKUPS,
        deadlines=Deadlines(due=rules_polls.due, expire=rules_polls.expire),
        followers=Followers(
            touches=touches,
            on_committed=None if said is None else partial(_pass_on, said),
            on_outcome_unknown=doubt,
        ),
        unjournaled=Unjournaled(refresh=loading.refresh),
        together=Together(load=loading.load_many, refresh=loading.refresh_many),
        slimming=SLIMMING,
        crossing=_CROSSING,
    )


_CROSSING: dict[type[Any], Any] = {
    commands.PostMessage: Raw,
    commands.MarkRead: ReadMarker,
    commands.StartTyping: None,
    commands.MeetDeadlines: None,
    **dict.fromkeys(get_args(commands.Told)),
}
"""Commands that cross between nodes: those that live sockets send, those that other domains tell, and those that other
nodes wait for after a turn of unknown outcome."""


def _rendering(frames: Frames) -> Rendering[State]:
    def seen(state: State, viewer: ChatViewer) -> Audience:
        return audience(state, viewer, frames.sight(viewer.user_id, frames.facts(state)))

    def render(state: State, viewers: Audience) -> Raw:
        return Raw(frames.seen_with(viewers.sight).snapshot(state, viewers))

    return Rendering(audience=seen, render=render, render_event=partial(delta, frames), event_key=event_key)


def decide(  # noqa: PLR0911 - a table
    relationships: Relationships, state: State, command: AnyCommand, now_ms: int
) -> Sequence[AnyEvent]:
    """The events of a command, by the rule for its type. Raises `Refused`; the state is never changed here."""
    match command:
        case commands.PostMessage():
            return rules_messages.post(state, command, now_ms, relationships)
        case commands.EditMessage():
            return rules_messages.edit(state, command, now_ms, relationships)
        case commands.DeleteMessage():
            return rules_messages.delete(state, command, now_ms)
        case commands.VotePoll():
            return rules_polls.vote(state, command, now_ms, relationships)
        case commands.ClosePoll():
            return rules_polls.close(state, command, now_ms, relationships)
        case commands.MeetDeadlines():
            return rules_polls.meet_deadlines(state, command, now_ms)
        case commands.MarkRead():
            return rules_members.mark_read(state, command, now_ms)
        case commands.StartTyping():
            return rules_members.start_typing(state, command, now_ms, relationships)
        case commands.ChangeConversation():
            return rules_members.change(state, command, now_ms)
        case commands.AddParticipants():
            return rules_members.add(state, command, now_ms)
        case commands.RemoveParticipant():
            return rules_members.remove(state, command, now_ms)
        case _:
            return _take(state, command, now_ms)


def _take(state: State, command: commands.Told, now_ms: int) -> Sequence[AnyEvent]:
    """The events of a report that something has happened elsewhere."""
    match command:
        case commands.TellRename():
            return rules_members.take_rename(state, command, now_ms)
        case commands.TellErased():
            return erasing.take_erased(state, command, now_ms)
        case commands.TellArchive():
            return rules_members.take_archive(state, command, now_ms)


def answer(  # noqa: PLR0911 - a table
    frames: Frames, state: State, command: AnyCommand, happened: Sequence[AnyEvent]
) -> Raw | ReadMarker | None:
    """The reply to the caller: the message or conversation as they see it after the command, encoded."""
    match command:
        case commands.PostMessage():
            line = _line(happened) or rules_messages.original_of(state, command)
            return _message(frames, state, line, command.sender_id)
        case commands.VotePoll():
            line = _line(happened) or find_line(state, command.message_id)
            if line is not None and happened:
                # A recalled poll is forgotten by now; the voter's choice is what they have just given.
                return Raw(frames.message_chosen(line, command.option_ids))
            return _message(frames, state, line, command.user_id)
        case commands.EditMessage() | commands.DeleteMessage() | commands.ClosePoll():
            line = _line(happened) or find_line(state, command.message_id)
            return _message(frames, state, line, command.user_id)
        case commands.MarkRead():
            own = standing(state, state.members[command.user_id])
            return ReadMarker(
                unread_count=own.unread, mention_count=own.mentions, last_read_at_ms=own.last_read_at_ms
            )
        case commands.ChangeConversation() | commands.AddParticipants():
            return Raw(frames.seen_by(command.user_id).conversation_for(state, command.user_id))
        case _:
            return None


def touches(state: State, event: AnyEvent) -> Sequence[tuple[str, Collection[str]]]:
    """The views that an event changes: the inboxes of members that show something of it."""
    match event:
        case events.MessageCreated():  # what happens most is asked first
            return ((INBOX, state.members.keys()),)
        case events.ReadMarked() | events.MuteChanged():
            return ((INBOX, (event.user_id,)),)
        case events.MemberRemoved():
            return ((INBOX, {*state.members, event.user_id}),)
        case events.ReadTold() | events.TypingStarted() | events.TextReplaced() | events.MessageRetold():
            return ()
        case (
            events.ArchiveSeen()
            | events.OlderRowsChanged()
            | events.PastRewritten()
            | events.DeletionAudited()
        ):
            return ()
        case _:
            return ((INBOX, state.members.keys()),)


_OF_A_MESSAGE = (
    events.MessageCreated,
    events.MessageEdited,
    events.MessageDeleted,
    events.PollVoted,
    events.PollClosed,
)


def _line(happened: Sequence[AnyEvent]) -> Line | None:
    event = happened[0] if happened else None
    return event.line if isinstance(event, _OF_A_MESSAGE) else None


def _message(frames: Frames, state: State, line: Line | None, user_id: str) -> Raw | None:
    return None if line is None else Raw(frames.message_for(state, line, user_id))


def _pass_on(said: Said, state: State, event: AnyEvent) -> None:
    if isinstance(event, events.MessageCreated) and state.kind == "direct":
        for member_id in state.members:
            if member_id != event.line.sender_id:
                said(event.line.sender_id, member_id, event.line.created_at_ms)
