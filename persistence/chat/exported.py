"""Which rows about chat go into the export of a user's data."""

from persistence.exporting import Exported

# Nothing says when a vote was cast. What was asked before an erasure, the erased one may have answered.
_ASKED_AT_MS = """coalesce(
    (SELECT created_at_ms FROM messages WHERE id = message_id),
    (SELECT created_at_ms FROM archived_messages WHERE id = message_id),
    0
)"""

EXPORTED = (
    Exported("conversation_members", "user_id = $1"),
    Exported(
        "messages",
        "sender_id = $1",
        leaves=("seq", "sender_seq", "has_poll", "poll_open", "poll_expires_at_ms"),
        made="created_at_ms",
    ),
    Exported(
        "archived_messages",
        # Those of conversations that they have left, too. The first condition spares most rows the second.
        """position(convert_to($1, 'UTF8') IN record) > 0
    AND convert_from(record, 'UTF8')::jsonb ->> 'senderId' = $1""",
        leaves=("has_poll",),
        made="created_at_ms",
    ),
    Exported("message_revisions", "editor_id = $1", made="edited_at_ms"),
    Exported("poll_votes", "user_id = $1", made=_ASKED_AT_MS),
    Exported("attachments", "uploader_id = $1", blob="sha256", made="created_at_ms"),
)
