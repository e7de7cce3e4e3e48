"""Sending, editing and deleting messages: who may, and what comes of it (contract §4)."""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.chat import drafts, records
from actors.chat.commands import MAX_ATTACHMENTS, DeleteMessage, EditMessage, PostMessage
from actors.chat.events import (
    AnyEvent,
    DeletionAudited,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    MessageRetold,
    TextReplaced,
)
from actors.chat.public import Attachment, Mention, Message
from actors.chat.sight import Relationships
from actors.chat.state import Member, State, find_line
from actors.chat.window import Line
from actors.errors import Blocked, Conflict, ConversationNotFound, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.polls import Poll, check_poll
from actors.texts import with_line_feeds
from actors.time import iso, parse_iso

MAX_OPEN_DEADLINES = 200
"""Most open polls with an expiry in one conversation: all of them are kept in memory."""

PAIR = 2
"""The members of a direct conversation."""

UNUSED_ATTACHMENT_MS = 24 * 3600 * 1000
"""How long an upload may wait for its message (contract §4)."""


def member_of(state: State, user_id: str) -> Member:
    """The member with this id.

    Raises:
        ConversationNotFound: the user is not a member; to a stranger the conversation does not exist.
    """
    member = state.members.get(user_id)
    if member is None:
        raise ConversationNotFound
    return member


def check_not_blocked(state: State, relationships: Relationships) -> None:
    """Refuse to say anything in a direct conversation while one of the two blocks the other.

    Blocks are looked up in the memory that each process has of them, which takes all changes in their order. A copy in
    each conversation would have to be told of every change, also while the conversation is being created.

    Raises:
        Blocked: one of the two blocks the other.
    """
    if state.kind == "direct" and len(state.members) == PAIR and relationships.parted(*state.members):
        raise Blocked


def live_line(state: State, message_id: str) -> Line:
    """A message that can still be changed.

    Raises:
        NotFound: no such message in this conversation.
        Conflict: the message is archived.
    """
    line = find_line(state, message_id)
    if line is not None:
        return line
    if message_id in state.looked_up.archived:
        raise Conflict("archived messages cannot be changed")
    raise NotFound("message not found")


def require_sender(sender_id: str, user_id: str) -> None:
    """Refuse to edit the message of another user; checked in the route's guard, and again in the turn.

    Raises:
        Forbidden: the user has not sent the message.
    """
    if sender_id != user_id:
        raise Forbidden("only its sender may edit a message")


def original_of(state: State, command: PostMessage) -> Line | None:
    """The message that already carries this sender's clientMessageId, if there is one."""
    client_id = command.draft.client_message_id
    if client_id is None:
        return None
    said = state.window.said(command.sender_id, client_id)
    if said is not None:
        return said
    original = state.looked_up.original
    if original is not None and (original.sender_id, original.client_message_id) == (
        command.sender_id,
        client_id,
    ):
        return original
    return None


def post(state: State, command: PostMessage, now_ms: int, relationships: Relationships) -> Sequence[AnyEvent]:
    """Decide on a new message. No events for a `clientMessageId` that was used before.

    Raises:
        ConversationNotFound: the sender is not in the conversation.
        Blocked: a block stands between the two of a direct conversation.
        Invalid: text, mentions, attachments or poll break a rule.
        QuotaExceeded: `MAX_OPEN_DEADLINES` polls with an expiry are open already.
    """
    sender = member_of(state, command.sender_id)
    check_not_blocked(state, relationships)
    draft = command.draft
    content = with_line_feeds(draft.content or "")
    errors = drafts.check_draft(draft, content)
    if original_of(state, command) is not None:
        return ()
    mentions = drafts.resolve_mentions(draft.mentions, state.members, errors) if draft.mentions else ()
    attachments = _attachments(state, command, now_ms, errors) if draft.attachment_ids else ()
    poll = check_poll(draft.poll, now_ms, errors) if draft.poll is not None else None
    if errors:
        raise Invalid(*errors)
    if poll is not None and poll.expires_at_ms is not None and len(state.deadlines) >= MAX_OPEN_DEADLINES:
        raise QuotaExceeded(
            FieldError("/poll", "TOO_MANY", f"at most {MAX_OPEN_DEADLINES} open polls with an expiry"),
            max=MAX_OPEN_DEADLINES,
        )
    message = _new_message(state, command, sender, (content, mentions, attachments, poll), now_ms)
    line = Line(
        id=message.id,
        seq=state.message_seq + 1,
        created_at_ms=message.created_at_ms,
        sender_id=sender.user_id,
        client_message_id=message.client_message_id,
        record=records.encode(message),
        has_poll=poll is not None,
        poll_open=poll is not None,
        poll_expires_at_ms=poll.expires_at_ms if poll is not None else None,
        attachment_ids=draft.attachment_ids or (),
    )
    return (MessageCreated(line, sender.sent + 1, records.preview(message), records.mentioned(message)),)


def _new_message(
    state: State,
    command: PostMessage,
    sender: Member,
    parts: tuple[str, tuple[Mention, ...], tuple[Attachment, ...], Poll | None],
    now_ms: int,
) -> Message:
    # Strictly increasing, whatever the clock does, so that `beforeMs` can neither skip nor repeat.
    created_at_ms = max(now_ms, state.last_ms + 1)
    return Message(
        id=command.message_id,
        conversation_id=state.id,
        sender_id=sender.user_id,
        sender_name=command.sender_name or sender.name,
        content=parts[0],
        mentions=parts[1],
        attachments=parts[2],
        poll=parts[3],
        created_at=iso(created_at_ms),
        created_at_ms=created_at_ms,
        source="live",
        revision=1,
        client_message_id=command.draft.client_message_id,
        edited_at=None,
        deleted_at=None,
    )


def _attachments(
    state: State, command: PostMessage, now_ms: int, errors: list[FieldError]
) -> tuple[Attachment, ...]:
    ids = command.draft.attachment_ids or ()
    if len(ids) > MAX_ATTACHMENTS:
        return ()  # Refused already; rows of those beyond were not looked up, so that none can be called unknown.
    # What this very turn has bound already is not in the rows yet; the window is longer than a turn.
    bound = {id for line in state.window for id in line.attachment_ids}
    found = []
    for place, id in enumerate(ids):
        row = state.looked_up.attachments.get(id)
        usable = (
            row is not None
            and row.uploader_id == command.sender_id
            and row.used_at_ms is None
            and row.created_at_ms > now_ms - UNUSED_ATTACHMENT_MS
            and id not in bound
        )
        if row is not None and usable:
            found.append(records.public_attachment(row))
        else:
            sentence = "not an unused upload of yours in this conversation"
            errors.append(FieldError(f"/attachmentIds/{place}", "UNKNOWN", sentence))
    return tuple(found)


def edit(state: State, command: EditMessage, now_ms: int, relationships: Relationships) -> Sequence[AnyEvent]:
    """Edit one's own message. No events if text and mentions are unchanged.

    Raises:
        ConversationNotFound: the user is not in the conversation.
        NotFound: there is no such message.
        Forbidden: the message is another user's, or was sent by a user who was erased and had the same id.
        Blocked: a block stands between the two of a direct conversation.
        Invalid: text or mentions break a rule.
        Conflict: the message was deleted, or lies in the archive.
    """
    member = member_of(state, command.user_id)
    line = live_line(state, command.message_id)
    require_sender(line.sender_id, command.user_id)
    check_not_blocked(state, relationships)
    message = records.decode(line.record)
    # Who comes back under the id of an erased user has nothing of them.
    if line.seq <= member.joined_seq and message.sender_name == records.DELETED:
        raise Forbidden("its sender was erased")
    content = with_line_feeds(command.content)
    errors = drafts.check_content(content)
    if not content.strip() and not message.attachments and message.poll is None:
        errors.append(FieldError("/content", "REQUIRED", "the message would be empty"))
    if command.mentions is None:
        mentions = tuple(mention for mention in message.mentions if mention.token in content)
    else:
        mentions = drafts.resolve_mentions(command.mentions, state.members, errors, message.mentions)
    if errors:
        raise Invalid(*errors)
    if message.deleted_at is not None:
        raise Conflict("the message is deleted")
    if content == message.content and mentions == message.mentions:
        return ()
    at_ms = max(now_ms, message.created_at_ms)
    changed = records.edited(message, content=content, mentions=mentions, at_ms=at_ms)
    edited = replace(line, record=records.encode(changed))
    return (
        MessageEdited(edited, at_ms, records.preview(changed), records.mentioned(changed)),
        TextReplaced(
            message_id=message.id,
            revision=message.revision,
            content=message.content,
            since_ms=parse_iso(message.edited_at or message.created_at),
            editor_id=message.sender_id,
        ),
        MessageRetold(edited, state.looked_up.told),
    )


def delete(state: State, command: DeleteMessage, now_ms: int) -> Sequence[AnyEvent]:
    """Delete a message softly: its text goes, its place stays. No events for one that is deleted already.

    Raises:
        ConversationNotFound: the user is not in the conversation.
        NotFound: there is no such message.
        Forbidden: the message is another user's, and the caller is no moderator.
        Conflict: the message lies in the archive.
    """
    if not command.moderator:
        member_of(state, command.user_id)
    line = live_line(state, command.message_id)
    if line.sender_id != command.user_id and not command.moderator:
        raise Forbidden("only its sender or a moderator may delete a message")
    message = records.decode(line.record)
    if message.deleted_at is not None:
        return ()
    at_ms = max(now_ms, message.created_at_ms)
    left = replace(
        line,
        record=records.encode(records.deleted(message, at_ms)),
        has_poll=False,
        poll_open=False,
        poll_expires_at_ms=None,
        attachment_ids=(),
    )
    events: list[AnyEvent] = [
        MessageDeleted(left, at_ms, command.user_id),
        MessageRetold(left, state.looked_up.told),
    ]
    if command.stamp is not None and message.sender_id != command.user_id:
        events.append(DeletionAudited(command.stamp, message.id, message.sender_id))
    return events
