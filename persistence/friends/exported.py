"""Which rows about friends go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("friend_links", "user_id = $1"),
    Exported("friend_requests", "sender_id = $1 OR recipient_id = $1"),
    Exported("blocks", "user_id = $1"),
    Exported("veils", "holder_id = $1"),
    Exported("flame_streaks", "low_id = $1 OR high_id = $1"),
)
