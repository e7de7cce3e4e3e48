"""Conversations read from rows, in the same form as live ones, so that frames are made of both alike."""

from actors.chat.sight import compact
from actors.chat.state import Facts, MemberCounts, decode_summary
from persistence.chat.rows import CountRow, EntryRow


def facts_of_row(row: EntryRow) -> Facts:
    """The data of a conversation's head."""
    kept = row.conversation
    summary = decode_summary(row.summary)
    return Facts(
        id=kept.id,
        kind="direct" if kept.kind == "direct" else "group",
        title=kept.title,
        owner_id=kept.owner_id,
        created_at_ms=kept.created_at_ms,
        updated_at_ms=summary.updated_at_ms,
        participants=row.participants,
        silent=compact(row.silent),
        participant_count=row.participant_count,
        last_message=summary.last_message,
        last_event=summary.last_event,
    )


def standing_of_row(row: EntryRow) -> MemberCounts:
    """The counts and settings of the member for whom the row was read."""
    message_seq = decode_summary(row.summary).message_seq
    unread = message_seq - row.read_seq - (row.sent - row.own_at_read)
    return MemberCounts(unread, row.mention_count, row.read_at_ms, row.muted)


def counts_of_row(row: CountRow) -> tuple[int, int]:
    """How many messages are unread, and how many of them mention the member."""
    return row.message_seq - row.read_seq - (row.sent - row.own_at_read), row.mention_count
