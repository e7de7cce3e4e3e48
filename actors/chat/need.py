"""What a command of a conversation needs of rows."""

import msgspec


class Need(msgspec.Struct, frozen=True):
    """What is to be read.

    Args:
        message_ids: messages outside the window.
        voter_id: whose choices in polls of those.
        reader_id: whose own messages after those are to be counted.
        client: (sender id, clientMessageId) of a message that may exist already.
        attachment_ids: uploads to be used.
        user_ids: users to be added.
        adder_id: who would add them.
        archive: the archive's newest lines are to be read again.
        oldest_seq: of the window's oldest message, beside `archive`.
        told_of: the message of which the journal's events are asked for.
        told_since: its seq where that is known; no event that tells of it has a lower offset.
    """

    message_ids: tuple[str, ...] = ()
    voter_id: str | None = None
    reader_id: str | None = None
    client: tuple[str, str] | None = None
    attachment_ids: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    adder_id: str = ""
    archive: bool = False
    oldest_seq: int | None = None
    told_of: str | None = None
    told_since: int = 0
