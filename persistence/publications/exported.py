"""Which rows about publications go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "publications",
        """server_id IN (SELECT server_id FROM connect_servers WHERE owner_id = $1)
    OR network_id IN (SELECT network_id FROM networks WHERE owner_id = $1)
    OR id IN (SELECT server_id FROM saved_servers WHERE user_id = $1)""",
    ),
)
