"""Random histories of a conversation, and a plain model of what they come to.

A step is a few small numbers; what command they mean depends on the state that they meet, so that most steps
do something. The model keeps lists and sets and counts them over again each time.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from actors.chat.commands import (
    AddParticipants,
    AnyCommand,
    ChangeConversation,
    ClosePoll,
    DeleteMessage,
    EditMessage,
    MarkRead,
    MessageDraft,
    PostMessage,
    RemoveParticipant,
    VotePoll,
)
from actors.chat.events import (
    AnyEvent,
    MemberRemoved,
    MembersAdded,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    PollVoted,
    ReadMarked,
)
from actors.chat.records import decode
from actors.chat.state import State, find_line
from tests.chat.play import a_mention, a_poll, mid, uid

NAMES = ("ann", "bob", "cid", "dan", "eve")


class Step(NamedTuple):
    """One thing that somebody does.

    Args:
        what: which sort of thing.
        who, whom: users, by place in `NAMES`.
        which: a message, counted from the newest.
        bits: whatever else is to be chosen.
    """

    what: int
    who: int
    whom: int
    which: int
    bits: int


STEPS = st.builds(
    Step,
    st.integers(0, 15),
    st.integers(0, len(NAMES) - 1),
    st.integers(0, len(NAMES) - 1),
    st.integers(0, 11),
    st.integers(0, 7),
)


def command_of(step: Step, number: int, state: State, ids: list[str]) -> AnyCommand:
    """What a step means.

    Args:
        number: makes the id of a new message.
        ids: of the messages sent so far, oldest first.
    """
    who, whom = uid(NAMES[step.who]), uid(NAMES[step.whom])
    message_id = ids[-1 - step.which % len(ids)] if ids else mid(10**6)
    options = tuple(str(bit + 1) for bit in range(3) if step.bits >> bit & 1)
    mentions = (a_mention(NAMES[step.whom]),) if step.bits & 1 and whom in state.members else ()
    # Most of what others try is refused; twice in three times the author does it.
    line = find_line(state, message_id)
    author = line.sender_id if line is not None and step.bits < 5 else who
    match step.what:
        case 0 | 1 | 2 | 3 | 4:
            draft = MessageDraft(content=f"text {number}", mentions=mentions)
        case 5:
            draft = MessageDraft(poll=a_poll(multiple=True))
        case 6 | 7:
            return VotePoll(who, message_id, options)
        case 8 | 9:
            return MarkRead(who, message_id)
        case 10:
            return EditMessage(author, message_id, f"other {number}", mentions)
        case 11:
            return DeleteMessage(author, message_id)
        case 12:
            return ClosePoll(author, message_id)
        case 13:
            return AddParticipants(state.owner_id or who, (who, whom))
        case 14:
            return RemoveParticipant(state.owner_id or who, whom)
        case _:
            return ChangeConversation(who, muted=bool(step.bits & 1))
    return PostMessage(who, mid(number), draft)


@dataclass
class Sent:
    """A message in the model."""

    id: str
    sender_id: str
    mentioned: set[str]
    votes: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Model:
    """What has been sent, and up to which place everybody has read."""

    read: dict[str, int]
    sent: list[Sent] = field(default_factory=list)

    def take(self, event: AnyEvent) -> None:
        """What the event means for the lists."""
        match event:
            case MessageCreated():
                self.sent.append(Sent(event.line.id, event.line.sender_id, set(event.mentioned)))
            case MessageEdited():
                message = self.find(event.line.id)
                message.mentioned = {mention.id for mention in decode(event.line.record).mentions}
            case MessageDeleted():
                message = self.find(event.line.id)
                message.mentioned, message.votes = set(), {}
            case PollVoted():
                self.find(event.line.id).votes[event.voter_id] = event.option_ids
            case MembersAdded():
                self.read.update({member.user_id: len(self.sent) for member in event.members})
            case MemberRemoved():
                del self.read[event.user_id]
            case ReadMarked():
                self.read[event.user_id] = event.seq
            case _:
                pass

    def find(self, message_id: str) -> Sent:
        """The message with this id."""
        return next(message for message in self.sent if message.id == message_id)

    def standing(self, user_id: str) -> tuple[int, int]:
        """Unread messages and mentions, counted one by one."""
        above = [message for message in self.sent[self.read[user_id] :] if message.sender_id != user_id]
        return len(above), sum(user_id in message.mentioned for message in above)

    def poll(self, message_id: str) -> tuple[list[int], int]:
        """Votes for each option, and voters."""
        choices = [choice for choice in self.find(message_id).votes.values() if choice]
        return [sum(option in choice for choice in choices) for option in "123"], len(choices)
