"""Which rows about totems go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("totem_models", "owner_id = $1", leaves=("name_key",)),
    Exported(
        "totem_contents",
        "model_id IN (SELECT id FROM totem_models WHERE owner_id = $1)",
        files=("content",),
        key="model_id",
    ),
    Exported("totem_selections", "user_id = $1"),
)
