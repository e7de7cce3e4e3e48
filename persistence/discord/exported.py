"""Which rows about Discord webhooks go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "network_discord",
        "network_id IN (SELECT network_id FROM networks WHERE owner_id = $1)",
        leaves=("sealed_token",),
    ),
)
