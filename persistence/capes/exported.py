"""Which rows about capes go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("capes", "owner_id = $1", leaves=("words", "creator_lower", "moderator_id")),
    Exported(
        "cape_pictures",
        "cape_id IN (SELECT id FROM capes WHERE owner_id = $1)",
        files=("texture", "preview"),
        key="cape_id",
    ),
    Exported("cape_selections", "user_id = $1"),
    Exported("cape_terms", "user_id = $1"),
)
