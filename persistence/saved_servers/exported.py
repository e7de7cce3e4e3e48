"""What of saved servers a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (Exported("saved_servers", "user_id = $1"),)
