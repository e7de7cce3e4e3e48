"""Which rows about saved servers go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (Exported("saved_servers", "user_id = $1"),)
