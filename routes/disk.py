"""What the tables that grow with use take on disk, looked at now and then: for the metrics."""

from persistence.bridge.database import Database
from persistence.journal.history import sizes


class Disk:
    """The figures of the last look.

    Attributes:
        journal_bytes, snapshot_bytes: of the events and of the snapshots of all actors, with their indexes.
        receipt_bytes: of the answers that are kept under Idempotency-Keys.
    """

    def __init__(self) -> None:
        self.journal_bytes = 0
        self.snapshot_bytes = 0
        self.receipt_bytes = 0

    async def look(self, database: Database) -> None:
        """Ask the database.

        Raises:
            DatabaseUnavailable: it cannot say now; the figures stay.
        """
        self.journal_bytes, self.snapshot_bytes, self.receipt_bytes = await database.read(sizes)
