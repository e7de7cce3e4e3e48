"""Which rows about the user, their rights and profile shares go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "users", "id = $1", leaves=("name_lower", "name_issued_at_s", "renamed_at_ms", "tokens_not_before_s")
    ),
    Exported("user_roles", "user_id = $1"),
    Exported("user_grants", "user_id = $1"),
    Exported("profile_shares", "user_id = $1"),
    Exported("minecraft_options", "user_id = $1"),
    Exported("experience", "user_id = $1"),
)
