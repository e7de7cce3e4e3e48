"""Which rows about parties go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("party_members", "user_id = $1"),
    Exported("party_invites", "sender_id = $1 OR target_id = $1", made="created_at_ms"),
)
