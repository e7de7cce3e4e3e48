"""Clients that send: what each request wants, how it is repeated, and what it was told.

A client knows no more than a real one: that its request was done, that nothing was changed, or that nobody knows. One
whose request carries a `clientMessageId` or an Idempotency-Key repeats it until it knows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from actors.chat import commands
from actors.chat.commands import MessageDraft
from actors.errors import Refused
from actors.kernel.mailbox import Answer
from persistence.errors import OutcomeUnknown, PersistenceError
from persistence.journal.turn import Receipt
from tests.simulation.chat_rows import KIND as CHAT
from tests.simulation.image import START_MS

TRIES_MAX = 4

Fate = str
"""waiting, done, refused (by a rule: nothing was changed), not (nothing was changed), unknown."""


@dataclass(slots=True, eq=False)
class Request:
    """What one client wants of one conversation or party.

    Args:
        number: unique in the run.
        what: post, edit, delete, vote, read, title, add, remove, typing or mute; of a party (`kind`) one of
            `party_requests.py`.
        tag: the text that it would leave, unique in the run.
        make: the command, given a fresh message id.
        about: the message that it is about.
        chosen: the options of a vote.
        key: its Idempotency-Key.
        repeatable: the client repeats it until it knows.

    Attributes:
        attempts: the message ids that were made for it.
        fate: as the client knows it.
        doubtful: some attempt had no known outcome.
        sent_ms: when the last attempt was sent.
        after_seq: the newest message of the conversation that somebody had been told of then.
        after: how many turns had landed when the first was sent.
    """

    number: int
    what: str
    user_id: str
    id: str
    tag: str
    make: Callable[[str], Any]
    about: str = ""
    chosen: tuple[str, ...] = ()
    key: bytes | None = None
    repeatable: bool = False
    kind: str = CHAT
    attempts: list[str] = field(default_factory=list)
    fate: Fate = "waiting"
    doubtful: bool = False
    sent_ms: int = 0
    after_seq: int = 0
    after: int = 0
    reply: bytes = b""

    def receipt(self, reply: Any) -> Receipt:
        """The receipt that commits with the effect."""
        assert self.key is not None
        kept = bytes(reply) if self.kind == CHAT else b"null"
        return Receipt(self.key, self.key + b"m" * 16, 200, kept, START_MS + 86_400_000)

    def votes_as(self, other: "Request") -> bool:
        """Whether both are votes of one user in one poll."""
        return (self.what, self.about, self.user_id) == (other.what, other.about, other.user_id)

    @property
    def may_repeat(self) -> bool:
        return self.repeatable and len(self.attempts) < TRIES_MAX


def fate_of(answer: Answer) -> Fate:
    """What a client knows by an answer."""
    match answer.error:
        case None:
            return "done"
        case OutcomeUnknown():
            return "unknown"
        case Refused():
            return "refused"
        case PersistenceError():
            return "not"
        case _:
            return "fault"


def posting(
    number: int, user_id: str, id: str, *, how: str, poll: Any = None, mention: str | None = None
) -> Request:
    """Send a message.

    Args:
        how: it is repeated by its `client` message id, by its `key`, or not at all (`once`).
    """
    tag = f"text-{number}."
    mentions = (commands.MentionDraft(id=mention),) if mention else None
    content = f"{tag} <@user:{mention}>" if mention else tag
    draft = MessageDraft(
        content=content,
        client_message_id=f"c{number}" if how == "client" else None,
        poll=poll,
        mentions=mentions,
    )
    return Request(
        number,
        "post",
        user_id,
        id,
        tag,
        lambda fresh: commands.PostMessage(user_id, fresh, draft),
        key=sha256(tag.encode()).digest() if how == "key" else None,
        repeatable=how != "once",
    )


def editing(number: int, user_id: str, id: str, message_id: str) -> Request:
    """Replace the text of a message."""
    tag = f"text-{number}."
    return Request(
        number,
        "edit",
        user_id,
        id,
        tag,
        lambda _: commands.EditMessage(user_id, message_id, tag),
        about=message_id,
    )


def deleting(number: int, user_id: str, id: str, message_id: str) -> Request:
    """Delete a message."""
    return Request(
        number,
        "delete",
        user_id,
        id,
        "",
        lambda _: commands.DeleteMessage(user_id, message_id),
        about=message_id,
        repeatable=True,
    )


def voting(number: int, user_id: str, id: str, message_id: str, chosen: tuple[str, ...]) -> Request:
    """Choose in a poll."""
    return Request(
        number,
        "vote",
        user_id,
        id,
        "",
        lambda _: commands.VotePoll(user_id, message_id, chosen),
        about=message_id,
        chosen=chosen,
    )


def reading(number: int, user_id: str, id: str, message_id: str) -> Request:
    """Mark everything up to a message as read."""
    return Request(
        number,
        "read",
        user_id,
        id,
        "",
        lambda _: commands.MarkRead(user_id, message_id),
        about=message_id,
        repeatable=True,
    )


def changing(number: int, what: str, user_id: str, id: str, target_id: str) -> Request:
    """Change the conversation itself: its title, its members, whether it is muted, or say that one is typing."""
    tag = f"title-{number}." if what == "title" else ""
    made = {
        "title": lambda _: commands.ChangeConversation(user_id, title=tag),
        "mute": lambda _: commands.ChangeConversation(user_id, muted=number % 2 == 0),
        "add": lambda _: commands.AddParticipants(user_id, (target_id,)),
        "remove": lambda _: commands.RemoveParticipant(user_id, target_id),
        "typing": lambda _: commands.StartTyping(user_id),
    }
    return Request(number, what, user_id, id, tag, made[what], about=target_id)
