"""Which rows about reports go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "reports",
        "reporter_id = $1",
        leaves=("seq", "settled_by", "settled_reason"),
        made="created_at_ms",
    ),
)
