"""Sizes on disk of the tables that grow with use, and whether the log is archived, looked at for the metrics."""

from pathlib import Path

from persistence.bridge.database import Database
from persistence.journal.history import sizes
from persistence.schema.checks import read_failed_archiving
from routes.edge.config.config import Config


def archive_of(config: Config) -> Path | None:
    """The folder into which the embedded database archives; None without one.

    Args:
        config: as read from the environment. A database of one's own has an archive of its own.
    """
    return config.wal_dir if config.database_url is None or config.is_kept else None


class Disk:
    """The latest measurement; zeros before the first.

    Attributes:
        journal_bytes, snapshot_bytes: the events and the snapshots of all actors, with their indexes.
        receipt_bytes: the answers kept under Idempotency-Keys.
        is_archiving_failed: PostgreSQL could not archive its log when it tried last, and keeps it.
    """

    def __init__(self) -> None:
        self.journal_bytes = 0
        self.snapshot_bytes = 0
        self.receipt_bytes = 0
        self.is_archiving_failed = False

    async def look(self, database: Database) -> None:
        """Measure the tables, and ask how archiving goes.

        Raises:
            DatabaseUnavailable: the database cannot be asked; the figures stay as they were.
        """
        self.journal_bytes, self.snapshot_bytes, self.receipt_bytes = await database.read(sizes)
        self.is_archiving_failed = await database.read(read_failed_archiving) is not None
