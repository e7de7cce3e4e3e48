"""Counts the bytes of what users write in chat, beside the rates, which count messages.

A message may leave 80 KiB behind, and again as much with each edit: at the rates' limits 35 GB a day. So what is beyond
a message of ordinary length is charged to its sender. Counted is what was asked for, whatever a rule says of it, as
rates count; what mentions and files come to is taken as a round number for each.
"""

from actors.chat.commands import MentionDraft, MessageDraft
from actors.polls import PollDraft
from routes.call import Call
from routes.edge.errors import RateLimited
from routes.edge.limits import Decision, Limits
from routes.rates import CHAT_BYTES

ORDINARY_BYTES = 1024
"""Bytes of a message that cost nothing: the rates alone count those of ordinary length."""

MENTION_BYTES, FILE_BYTES = 512, 1024
"""What a message says of somebody whom it mentions, and of a file, at most."""

_SHORT_CHARACTERS = ORDINARY_BYTES // 4


def charge(limits: Limits, user_id: str, now_ms: int, draft: MessageDraft) -> Decision | None:
    """Charge a user for a message that they send; returns the refusal where they have written too much.

    Args:
        limits: the rate limits.
        user_id: the sender's id.
        now_ms: epoch milliseconds.
        draft: the message, or the new text of one.
    """
    content = draft.content or ""
    if (
        len(content) <= _SHORT_CHARACTERS
        and not draft.mentions
        and draft.poll is None
        and not draft.attachment_ids
    ):
        return None
    size = _bytes_of(content, draft.mentions or (), draft.attachment_ids or (), draft.poll)
    return limits.charge(CHAT_BYTES, user_id, now_ms, size - ORDINARY_BYTES)


def charge_call(call: Call, draft: MessageDraft) -> None:
    """Charge the caller for a message that they send.

    Args:
        call: the call of a user.
        draft: the message, or the new text of one.

    Raises:
        RateLimited: they have written too much; the answer's RateLimit headers tell of that.
    """
    refusal = charge(call.service.limits, call.user_id, call.now_ms, draft)
    if refusal is not None:
        call.decision = refusal
        raise RateLimited(refusal.retry_after_ms)


def _bytes_of(
    content: str, mentions: tuple[MentionDraft, ...], files: tuple[str, ...], poll: PollDraft | None
) -> int:
    size = len(content.encode()) + MENTION_BYTES * len(mentions) + FILE_BYTES * len(files)
    if poll is not None:
        size += len(poll.question.encode()) + sum(len(option.label.encode()) for option in poll.options)
    return size
