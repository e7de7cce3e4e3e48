"""Which rows about game servers go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "connect_servers",
        "owner_id = $1",
        leaves=("secret", "secret_number", "former_secret", "former_until_ms", "name_lower"),
    ),
    Exported(
        "connect_settings",
        "server_id IN (SELECT server_id FROM connect_servers WHERE owner_id = $1)",
        leaves=("sealed",),
    ),
    Exported("connect_members", "user_id = $1"),
    Exported("connect_invites", "invitee_user_id = $1 OR inviter_id = $1", made="created_at_ms"),
    Exported("connect_sessions", "user_id = $1"),
    Exported("connect_extensions", "owner_id = $1"),
    Exported(
        "connect_commands", "created_by = $1", leaves=("leased_until_ms", "masked"), made="created_at_ms"
    ),
)
