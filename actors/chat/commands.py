"""What can be asked of a conversation, as structs; `rules_*.py` decide on them.

Every command that a person gives carries who they are: membership is decided in the turn, whatever the edge
has checked before. Ids are made by the caller, time is the turn's.
"""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import MAX_NAMED, Bigint, IdText, LongText, ShortText
from actors.chat.public import Public
from persistence.users.audit import Stamp


class MentionDraft(Public, kw_only=True, frozen=True):
    """A user to name. `kind` is always `user`; without a label the member's name is taken."""

    kind: IdText = "user"
    id: IdText
    label: ShortText | None = None


MentionDrafts = Annotated[tuple[MentionDraft, ...], msgspec.Meta(max_length=MAX_NAMED)]


class PollOptionDraft(Public, frozen=True):
    """An answer to offer."""

    label: ShortText


class PollDraft(Public, frozen=True):
    """A question to ask; options get their ids, "1" and up, in order."""

    question: ShortText
    options: Annotated[tuple[PollOptionDraft, ...], msgspec.Meta(max_length=MAX_NAMED)]
    multiple: bool = False
    expires_at_ms: Bigint | None = None


class MessageDraft(Public, frozen=True):
    """A message to send; at least one of content, attachments and poll (service description §4)."""

    content: LongText | None = None
    attachment_ids: Annotated[tuple[IdText, ...], msgspec.Meta(max_length=MAX_NAMED)] | None = None
    mentions: MentionDrafts | None = None
    poll: PollDraft | None = None
    client_message_id: ShortText | None = None


class Command(msgspec.Struct, frozen=True, gc=False):
    """The root of what a conversation takes."""


class PostMessage(Command, frozen=True):
    """Send a message; answered with it, as `msgspec.Raw`.

    A repeated `draft.client_message_id` of the same sender changes nothing and is answered with the first
    message.

    Args:
        message_id: a fresh object id, made by the caller.
    """

    sender_id: str
    message_id: str
    draft: MessageDraft


class EditMessage(Command, frozen=True):
    """Replace the text of one's own message; answered with it, as `msgspec.Raw`.

    Args:
        mentions: None keeps those whose token still stands in the content.
    """

    user_id: str
    message_id: str
    content: str
    mentions: tuple[MentionDraft, ...] | None = None


class DeleteMessage(Command, frozen=True):
    """Soft-delete a message; answered with what is left of it, as `msgspec.Raw`. A repeat changes nothing.

    Args:
        stamp: of a caller who holds `social:chat.moderate`, and need not be a participant: goes into the audit trail
            with what they delete of others. None for anybody else.
    """

    user_id: str
    message_id: str
    stamp: Stamp | None = None

    @property
    def moderator(self) -> bool:
        """Whether the caller may delete what others wrote."""
        return self.stamp is not None


class VotePoll(Command, frozen=True):
    """Give one's whole choice in a poll, none to withdraw; answered with the message as the voter sees it."""

    user_id: str
    message_id: str
    option_ids: tuple[str, ...]


class ClosePoll(Command, frozen=True):
    """Close a poll by hand, as its author or the group's owner; answered with the message as the caller sees
    it.
    """

    user_id: str
    message_id: str


class MeetDeadlines(Command, frozen=True):
    """A deadline has come: a poll expires, or read markers are to be told; sent by the kernel itself.

    Args:
        message_ids: of the polls.
    """

    message_ids: tuple[str, ...] = ()


class MarkRead(Command, frozen=True):
    """Everything up to this message is read; never moves back. Answered with a `ReadMarker`."""

    user_id: str
    message_id: str


class StartTyping(Command, frozen=True):
    """Tell the others, for 5 seconds at most, that the member writes."""

    user_id: str


class ChangeConversation(Command, frozen=True):
    """Set a group's title (owner), or mute it for oneself; answered with the Conversation, as `msgspec.Raw`.

    Args:
        title: unset leaves it, null or blank takes it away.
    """

    user_id: str
    title: str | UnsetType | None = UNSET
    muted: bool | UnsetType = UNSET


class AddParticipants(Command, frozen=True):
    """Add users to a group, as its owner; members already there are passed over. Answered with the
    Conversation.
    """

    user_id: str
    new_user_ids: tuple[str, ...]


class RemoveParticipant(Command, frozen=True):
    """Take a member out of a group, as its owner, or leave it oneself; answered with None."""

    user_id: str
    target_id: str


class TellBlock(Command, frozen=True):
    """`user_id` has begun or ceased to block `target_id`; told to live direct conversations of the two."""

    user_id: str
    target_id: str
    blocked: bool


class TellRename(Command, frozen=True):
    """A member is called otherwise now; told to live conversations."""

    user_id: str
    name: str


class TellErased(Command, frozen=True):
    """A user was erased: nothing calls them by their name any more."""

    user_id: str


class TellArchive(Command, frozen=True):
    """Rows of the archive have changed; told to live conversations."""


Told: TypeAlias = TellBlock | TellRename | TellErased | TellArchive
"""What has happened elsewhere; has no caller."""

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
    """A user who watches a conversation.

    Args:
        limit: messages in a snapshot, 1 to 120.
        include_archived: older history is merged in.
    """

    user_id: str
    limit: int = 50
    include_archived: bool = True


class InboxViewer(msgspec.Struct, frozen=True):
    """A user who watches their own inbox."""

    user_id: str
