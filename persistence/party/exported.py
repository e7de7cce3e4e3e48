"""What of party a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("party_members", "user_id = $1"),
    Exported("party_invites", "sender_id = $1 OR target_id = $1", made="created_at_ms"),
)
