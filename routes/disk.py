"""Sizes on disk of the tables that grow with use, measured periodically for the metrics."""

from persistence.bridge.database import Database
from persistence.journal.history import sizes


class Disk:
    """The latest measurement; zeros before the first.

    Attributes:
        journal_bytes, snapshot_bytes: the events and the snapshots of all actors, with their indexes.
        receipt_bytes: the answers kept under Idempotency-Keys.
    """

    def __init__(self) -> None:
        self.journal_bytes = 0
        self.snapshot_bytes = 0
        self.receipt_bytes = 0

    async def look(self, database: Database) -> None:
        """Measure the tables.

        Raises:
            DatabaseUnavailable: the database cannot be asked; the figures stay as they were.
        """
        self.journal_bytes, self.snapshot_bytes, self.receipt_bytes = await database.read(sizes)
