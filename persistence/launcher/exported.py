"""Which rows about launchers go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (Exported("performance_reports", "user_id = $1", leaves=("seq",)),)
