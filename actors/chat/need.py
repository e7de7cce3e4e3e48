"""The rows that a command of a conversation needs beside the state."""

import msgspec


class Need(msgspec.Struct, frozen=True):
    """Rows to be read for one command.

    Args:
        message_ids: messages outside the window.
        voter_id: the user whose choices in polls of those messages are to be read; None for nobody's.
        reader_id: the user whose first own message after each of those is to be found; None for nobody's.
        client: (sender id, clientMessageId) of a message that may exist already.
        attachment_ids: uploads that a message is to have.
        user_ids: users to be added to the group.
        adder_id: the user who would add them.
        archive: whether the archive's newest messages are to be read again.
        oldest_seq: with `archive`, the seq of the window's oldest message; None when the window is empty.
        told_of: the message whose events in the journal are to be found; None for none.
        told_since: the seq of that message, 0 if unknown; no event that carries it has a lower offset.
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
