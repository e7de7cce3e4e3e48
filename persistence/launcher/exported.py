"""What of launcher a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (Exported("performance_reports", "user_id = $1", leaves=("seq",)),)
