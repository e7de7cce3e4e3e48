"""What of sessions a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("sessions", "user_id = $1", leaves=("secret_hash",)),
    Exported("identities", "user_id = $1"),
)
