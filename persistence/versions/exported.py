"""What of versions a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("releases", "created_by = $1", leaves=("salt",)),
    Exported("channel_activations", "activated_by = $1"),
)
