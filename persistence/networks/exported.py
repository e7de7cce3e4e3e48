"""Which rows about networks go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("networks", "owner_id = $1"),
    Exported(
        "network_domains",
        "network_id IN (SELECT network_id FROM networks WHERE owner_id = $1)",
        leaves=("token",),
    ),
    Exported(
        "network_dns",
        "network_id IN (SELECT network_id FROM networks WHERE owner_id = $1)",
        leaves=("sealed_token",),
    ),
    Exported(
        "gateway_routes",
        "server_id IN (SELECT server_id FROM connect_servers WHERE owner_id = $1)",
        leaves=("revision",),
    ),
)
