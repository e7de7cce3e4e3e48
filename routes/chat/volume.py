"""Counts the bytes of what users write in chat, beside the rates, which count messages.

A message may leave 80 KiB behind, and again as much with each edit: at the rates' limits 35 GB a day. So what is beyond
a message of ordinary length is charged to its sender. Counted is what was asked for, whatever a rule says of it, as
rates count; what mentions and files come to is taken as a round number for each.
"""

from actors.chat.commands import MessageDraft

ORDINARY_BYTES = 1024
"""Bytes of a message that cost nothing: the rates alone count those of ordinary length."""

MENTION_BYTES, FILE_BYTES = 512, 1024
"""What a message says of somebody whom it mentions, and of a file, at most."""

_SHORT_CHARACTERS = ORDINARY_BYTES // 4


def excess_bytes(draft: MessageDraft) -> int:
    """What a message is charged for to `chat-bytes`: nothing below 1.

    Args:
        draft: the message, or the new text of one.
    """
    content = draft.content or ""
    if (
        len(content) <= _SHORT_CHARACTERS
        and not draft.mentions
        and draft.poll is None
        and not draft.attachment_ids
    ):
        return 0
    mentions, files = draft.mentions or (), draft.attachment_ids or ()
    size = len(content.encode()) + MENTION_BYTES * len(mentions) + FILE_BYTES * len(files)
    if draft.poll is not None:
        size += len(draft.poll.question.encode()) + sum(len(one.label.encode()) for one in draft.poll.options)
    return size - ORDINARY_BYTES
