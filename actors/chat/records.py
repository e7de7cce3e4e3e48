"""The public JSON of a message ("record"): encoded once, and decoded only to change it; every `selected` is false.

Pages, snapshots, journal and rows all carry these same bytes.
"""

from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import replace

from actors import polls
from actors.chat.public import Attachment, Mention, Message
from actors.chat.window import Line
from actors.polls import CloseReason, Poll
from actors.time import iso
from persistence.chat.rows import AttachmentRow, MessageRow, PageRow

DELETED = "deleted"
"""Shown in place of the name of an erased user (contract §8)."""

PREVIEW_CHARACTERS = 140
"""Length of the preview in lists, in characters."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Message)

_NOT_SELECTED = b',"selected":false'

# Quotes inside a JSON string are escaped, so these bytes occur only as the message's own field.
_SOME_ATTACHMENTS = b'"attachments":[{'


def encode(message: Message) -> bytes:
    """Encode a message as the record that is stored and sent."""
    return _encoder.encode(message)


def decode(record: bytes) -> Message:
    """Decode a record."""
    return _decoder.decode(record)


def mentioned(message: Message) -> tuple[str, ...]:
    """List the users whose mention count the message raises: those named in it, without the sender."""
    if not message.mentions:
        return ()
    return tuple(mention.id for mention in message.mentions if mention.id != message.sender_id)


def preview(message: Message) -> str:
    """The preview for lists (contract §4): the text, else the poll's question, else the first file's name."""
    text = message.content
    if not text.strip():
        if message.poll is not None:
            text = message.poll.question
        elif message.attachments:
            text = f"[attachment] {message.attachments[0].file_name}"
    return text if len(text) <= PREVIEW_CHARACTERS else text[: PREVIEW_CHARACTERS - 1] + "…"


def public_attachment(row: AttachmentRow) -> Attachment:
    """An attachment as messages and uploads show it."""
    return Attachment(
        id=row.id,
        file_name=row.file_name,
        content_type=row.content_type,
        size_bytes=row.size_bytes,
        url=f"/v1/social/chat/conversations/{row.conversation_id}/attachments/{row.id}",
    )


def edited(message: Message, *, content: str, mentions: Sequence[Mention], at_ms: int) -> Message:
    """Return the message with its text replaced and its revision raised by one.

    Args:
        content: the new text.
    """
    return replace(
        message,
        content=content,
        mentions=tuple(mentions),
        revision=message.revision + 1,
        edited_at=iso(at_ms),
    )


def deleted(message: Message, at_ms: int) -> Message:
    """Return what remains of a deleted message: no content, mentions, attachments or poll."""
    return replace(message, content="", mentions=(), attachments=(), poll=None, deleted_at=iso(at_ms))


def erased(message: Message, user_id: str) -> Message:
    """Return the message without the name of an erased user, and without attachments if they sent it.

    Returns the same object when it is neither from them nor mentions them, or was changed so before.
    """
    mentions = tuple(replace(one, label=DELETED) if one.id == user_id else one for one in message.mentions)
    if message.sender_id == user_id:
        changed = replace(message, sender_name=DELETED, mentions=mentions, attachments=())
    else:
        changed = replace(message, mentions=mentions)
    return message if changed == message else changed


def voted(message: Message, previous: Collection[str], chosen: Collection[str]) -> Message:
    """Return the message with one voter's choice replaced in the counts of its poll.

    Args:
        previous: ids of the options that the voter had chosen; empty without a vote.
        chosen: ids of the options that they choose now; empty to withdraw the vote.

    Raises:
        ValueError: the message has no poll.
    """
    return replace(message, poll=polls.with_vote(_poll(message), previous, chosen))


def closed(message: Message, *, at_ms: int, reason: CloseReason) -> Message:
    """Return the message with its poll closed.

    Raises:
        ValueError: the message has no poll.
    """
    return replace(message, poll=polls.closed(_poll(message), at_ms=at_ms, reason=reason))


def shown(record: bytes, *, poll_expires_at_ms: int | None, choice: Collection[str], now_ms: int) -> bytes:
    """Render a record as one viewer sees it now: their own choice selected, and a poll past its expiry closed.

    Returns the same bytes when neither applies, which is nearly always.

    Args:
        poll_expires_at_ms: the deadline of a poll that is open, epoch milliseconds; None without one.
        choice: ids of the options that the viewer has chosen; empty without a vote.
        now_ms: epoch milliseconds.
    """
    expired = poll_expires_at_ms is not None and poll_expires_at_ms <= now_ms
    if not expired and not choice:
        return record
    message = decode(record)
    if expired and poll_expires_at_ms is not None:
        message = closed(message, at_ms=poll_expires_at_ms, reason="expired")
    if choice and message.poll is not None:
        message = replace(message, poll=polls.with_choice(message.poll, choice))
    return encode(message)


def without_choice(record: bytes) -> bytes:
    """Cut every `selected` from a record, for `poll_updated`, where the viewer's choice is sent beside it.

    A byte search is safe: inside a JSON string the quotes would be escaped.
    """
    return record.replace(_NOT_SELECTED, b"")


def line_of(row: MessageRow) -> Line:
    """Make the in-memory line of a live message from its row."""
    return Line(
        id=row.id,
        seq=row.seq,
        created_at_ms=row.created_at_ms,
        sender_id=row.sender_id,
        client_message_id=row.client_message_id,
        record=row.record,
        has_poll=row.has_poll,
        poll_open=row.poll_open,
        poll_expires_at_ms=row.poll_expires_at_ms,
        attachment_ids=_attachment_ids(row.record),
    )


def page_line_of(row: PageRow) -> Line:
    """Make a line from a row that was read for a page, live or archived; only the fields that pages show are set."""
    return Line(
        id=row.id,
        seq=0,
        created_at_ms=row.created_at_ms,
        sender_id="",
        client_message_id=None,
        record=row.record,
        has_poll=row.has_poll,
        poll_expires_at_ms=row.poll_expires_at_ms,
    )


def _attachment_ids(record: bytes) -> tuple[str, ...]:
    if _SOME_ATTACHMENTS not in record:
        return ()
    return tuple(attachment.id for attachment in decode(record).attachments)


def _poll(message: Message) -> Poll:
    if message.poll is None:
        raise ValueError(f"message {message.id} has no poll")
    return message.poll
