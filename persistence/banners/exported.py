"""Which rows about banners go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (Exported("banners", "owner_id = $1", files=("picture",)),)
