"""Which rows about sessions go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("sessions", "user_id = $1", leaves=("secret_hash",)),
    Exported("identities", "user_id = $1"),
)
