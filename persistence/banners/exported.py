"""What of banners a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (Exported("banners", "owner_id = $1", files=("picture",)),)
