"""What is on the disks of the service and what is left there, and whether the log is archived; for the metrics."""

import shutil
from pathlib import Path

from persistence.bridge.database import Database
from persistence.journal.history import sizes
from persistence.schema.checks import read_failed_archiving
from routes.config.config import Config


def archive_of(config: Config) -> Path | None:
    """The folder into which the embedded database archives; None without one.

    Args:
        config: as read from the environment. A database of one's own has an archive of its own.
    """
    return config.wal_dir if _is_database_here(config) else None


def folders_of(config: Config) -> tuple[Path, ...]:
    """The folders whose disks must not be full: that of files, and the embedded database's.

    Args:
        config: as read from the environment. The data folder of a node lies in its keeper's, as the database does.
    """
    kept = (config.data_dir, config.shared_dir) if _is_database_here(config) else (config.shared_dir,)
    return tuple(dict.fromkeys(kept))


def free_bytes(config: Config) -> int:
    """What is left on the fullest of those disks.

    Args:
        config: of a service that is open, so that the folders are there.
    """
    return min(shutil.disk_usage(folder).free for folder in folders_of(config))


def _is_database_here(config: Config) -> bool:
    return config.database_url is None or config.is_kept


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
