"""What of reports a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported(
        "reports",
        "reporter_id = $1",
        leaves=("seq", "settled_by", "settled_reason"),
        made="created_at_ms",
    ),
)
