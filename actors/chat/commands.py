"""The commands that a conversation accepts; `rules_*.py` decide on them.

A command of a user carries that user's id: membership is checked within the turn, whatever a route has checked before.
The caller makes the ids of new things; the time is that of the turn.
"""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from actors.bounds import MAX_NAMED, IdText, LongText, ObjectIdText, ShortText, UuidText, ruled
from actors.chat.public import Public
from actors.polls import PollDraft
from persistence.users.audit import Stamp

MAX_CONTENT_CHARACTERS = 4_000
"""Most characters of a message (contract §4)."""

MAX_TITLE_CHARACTERS = 100
"""Most characters of a group's title."""

MAX_MENTIONS = 100
"""Most mentions in a message; its content could not hold the tokens of more."""

MAX_ATTACHMENTS = 10
"""Most attachments of a message, the same as Discord allows."""

MAX_CLIENT_ID_CHARACTERS = 100
"""Most characters of a `clientMessageId`: room for any sort of id."""

MAX_MENTION_LABEL_CHARACTERS = 64
"""Most characters of a mention's label: as many as a name may have."""


Title = Annotated[ShortText, ruled(maxLength=MAX_TITLE_CHARACTERS)]
"""The title of a group as a client sent it."""


class MentionDraft(Public, kw_only=True, frozen=True):
    """A user to mention. `kind` is always `user`; the label defaults to the member's name.

    Args:
        kind: what is mentioned: only users.
        id: the user's id.
        label: the name to show where the message is read; by default the user's current one.
    """

    kind: Annotated[IdText, ruled(enum=["user"])] = "user"
    id: UuidText
    label: Annotated[ShortText, ruled(maxLength=MAX_MENTION_LABEL_CHARACTERS)] | None = None


MentionDrafts = Annotated[
    tuple[MentionDraft, ...], msgspec.Meta(max_length=MAX_NAMED), ruled(maxItems=MAX_MENTIONS)
]


Content = Annotated[LongText, ruled(maxLength=MAX_CONTENT_CHARACTERS)]
"""The text of a message as its sender sent it."""

AttachmentIds = Annotated[
    tuple[ObjectIdText, ...],
    msgspec.Meta(max_length=MAX_NAMED),
    ruled(maxItems=MAX_ATTACHMENTS, uniqueItems=True),
]
"""The ids of uploads that a message is to have."""


class MessageDraft(Public, frozen=True):
    """A message to send; at least one of content, attachments and poll (service description §4).

    Args:
        content: the text; may be left out beside attachments or a poll.
        attachment_ids: files of the sender, uploaded to this conversation and not sent yet.
        mentions: the users that the text mentions.
        poll: a poll to put to the members.
        client_message_id: the client's own id: a second message with it is answered with the first one.
    """

    content: Content | None = None
    attachment_ids: AttachmentIds | None = None
    mentions: MentionDrafts | None = None
    poll: PollDraft | None = None
    client_message_id: Annotated[ShortText, ruled(minLength=1, maxLength=MAX_CLIENT_ID_CHARACTERS)] | None = (
        None
    )


class Command(msgspec.Struct, frozen=True, gc=False):
    """Base of all commands of a conversation."""


class PostMessage(Command, frozen=True):
    """Send a message; answered with it, as `msgspec.Raw`.

    A repeated `draft.client_message_id` of the same sender changes nothing and is answered with the first
    message.

    Args:
        message_id: a fresh object id, made by the caller.
        sender_name: the sender's name as whoever asks knows it: conversations hear of a new name later than the
            request that brings it. None for the name that the conversation knows.
    """

    sender_id: str
    message_id: str
    draft: MessageDraft
    sender_name: str | None = None


def posting(sender_id: str, message_id: str, draft: MessageDraft, sender_name: str | None) -> PostMessage:
    """Make the command for a draft as the client sent it, with the ids of its uploads in lower case, as rows have them.

    Args:
        sender_id, message_id, sender_name: the fields of `PostMessage`.
        draft: the draft, whose ids may be in either case.
    """
    if draft.attachment_ids:
        draft = replace(draft, attachment_ids=tuple(id.lower() for id in draft.attachment_ids))
    return PostMessage(sender_id, message_id, draft, sender_name)


class EditMessage(Command, frozen=True):
    """Replace the text of one's own message; answered with it, as `msgspec.Raw`.

    Args:
        mentions: the new mentions; None keeps the earlier ones whose token still stands in the content.
    """

    user_id: str
    message_id: str
    content: str
    mentions: tuple[MentionDraft, ...] | None = None


class DeleteMessage(Command, frozen=True):
    """Soft-delete a message; answered with what is left of it, as `msgspec.Raw`. A repeat changes nothing.

    Args:
        stamp: identifies a moderator (`social:chat.moderate`) and their request in the audit trail, which records what
            they delete of others. A moderator need not be a participant. None for every other caller.
    """

    user_id: str
    message_id: str
    stamp: Stamp | None = None

    @property
    def moderator(self) -> bool:
        """Whether the caller may delete what others wrote."""
        return self.stamp is not None


class VotePoll(Command, frozen=True):
    """Replace the voter's choice in a poll; no options withdraw it. Answered with the message as the voter sees it."""

    user_id: str
    message_id: str
    option_ids: tuple[str, ...]


class ClosePoll(Command, frozen=True):
    """Close a poll by hand, as its author or the group's owner. Answered with the message as the caller sees it."""

    user_id: str
    message_id: str


class MeetDeadlines(Command, frozen=True):
    """Close expired polls and send read notices that are due. Given by the kernel, never by a user.

    Args:
        message_ids: the messages of the polls that have expired.
    """

    message_ids: tuple[str, ...] = ()


class MarkRead(Command, frozen=True):
    """Mark everything up to this message as read; the marker never moves back. Answered with a `ReadMarker`."""

    user_id: str
    message_id: str


class StartTyping(Command, frozen=True):
    """Show the others that the member is typing, for 5 seconds at most."""

    user_id: str


class ChangeConversation(Command, frozen=True):
    """Set a group's title (owner), or mute it for oneself; answered with the Conversation, as `msgspec.Raw`.

    Args:
        title: the new title; unset leaves it as it is, null or blank removes it.
        muted: whether the conversation is muted for the user; unset leaves it as it is.
    """

    user_id: str
    title: str | UnsetType | None = UNSET
    muted: bool | UnsetType = UNSET


class AddParticipants(Command, frozen=True):
    """Add users to a group, as its owner; existing members are skipped. Answered with the Conversation."""

    user_id: str
    new_user_ids: tuple[str, ...]


class RemoveParticipant(Command, frozen=True):
    """Take a member out of a group, as its owner, or leave it oneself; answered with None."""

    user_id: str
    target_id: str


class TellRename(Command, frozen=True):
    """A member has a new name; sent to their live conversations."""

    user_id: str
    name: str


class TellErased(Command, frozen=True):
    """A user was erased: they leave the conversation, which replaces their name by `deleted` (contract §8)."""

    user_id: str


class TellArchive(Command, frozen=True):
    """Rows of the archive have changed; sent to the conversation if it is live."""


Told: TypeAlias = TellRename | TellErased | TellArchive
"""Notifications of changes elsewhere; no caller waits for an answer."""

AnyCommand: TypeAlias = (
    PostMessage
    | EditMessage
    | DeleteMessage
    | VotePoll
    | ClosePoll
    | MeetDeadlines
    | MarkRead
    | StartTyping
    | ChangeConversation
    | AddParticipants
    | RemoveParticipant
    | Told
)


class ChatViewer(msgspec.Struct, frozen=True):
    """A subscriber of a conversation's channel.

    Args:
        limit: how many messages a snapshot has, 1 to 120.
        include_archived: whether archived messages are merged in.
        follows_rows: whether the subscriber shows messages older than those in memory, and is told when such rows are
            written otherwise than by an event about one message.
    """

    user_id: str
    limit: int = 50
    include_archived: bool = True
    follows_rows: bool = False
