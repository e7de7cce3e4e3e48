"""Which rows about services go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (Exported("services", "owner_id = $1"),)
