"""Which rows about notifications go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (Exported("notifications", "user_id = $1"),)
