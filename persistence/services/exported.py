"""What of services a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (Exported("services", "owner_id = $1"),)
