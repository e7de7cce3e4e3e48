"""What of chat a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("conversation_members", "user_id = $1"),
    Exported(
        "messages",
        "sender_id = $1",
        leaves=("seq", "sender_seq", "has_poll", "poll_open", "poll_expires_at_ms"),
    ),
    Exported(
        "archived_messages",
        """conversation_id IN (SELECT conversation_id FROM conversation_members WHERE user_id = $1)
    AND convert_from(record, 'UTF8')::jsonb ->> 'senderId' = $1""",
        leaves=("has_poll",),
    ),
    Exported("message_revisions", "editor_id = $1"),
    Exported("poll_votes", "user_id = $1"),
    Exported("attachments", "uploader_id = $1", blob="sha256"),
)
