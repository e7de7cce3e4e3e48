"""What of notifications a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (Exported("notifications", "user_id = $1"),)
