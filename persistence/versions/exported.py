"""Which rows about releases go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("releases", "created_by = $1", leaves=("salt",)),
    Exported("channel_activations", "activated_by = $1"),
)
