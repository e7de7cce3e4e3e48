"""Sizes of the stored tables, free space on the disks, and whether archiving the log fails; for the metrics."""

import shutil
from pathlib import Path

from persistence.bridge.database import Database
from persistence.journal.history import sizes
from persistence.schema.checks import read_failed_archiving
from routes.config.config import Config


def archive_of(config: Config) -> Path | None:
    """The folder into which the embedded database archives its log; None if it does not, or is not used.

    Args:
        config: the configuration, as read from the environment.
    """
    return config.wal_dir if _is_database_here(config) else None


def folders_of(config: Config) -> tuple[Path, ...]:
    """The folders whose disks must not be full: that of files, and that of the embedded database.

    Args:
        config: the configuration, as read from the environment. The data folder of a kept node lies in its keeper's,
            where the database is as well.
    """
    kept = (config.data_dir, config.shared_dir) if _is_database_here(config) else (config.shared_dir,)
    return tuple(dict.fromkeys(kept))


def free_bytes(config: Config) -> int:
    """The free bytes on the fullest of those disks.

    Args:
        config: the configuration of an open service, so that the folders exist.
    """
    return min(shutil.disk_usage(folder).free for folder in folders_of(config))


def _is_database_here(config: Config) -> bool:
    return config.database_url is None or config.is_kept


class Disk:
    """The latest measurement of the tables; zeros before the first.

    Attributes:
        journal_bytes, snapshot_bytes: the size of the events and the snapshots of all actors, with their indexes.
        receipt_bytes: the size of the answers kept under Idempotency-Keys.
        is_archiving_failed: whether PostgreSQL's last attempt to archive its log has failed, so that it keeps the log.
    """

    def __init__(self) -> None:
        self.journal_bytes = 0
        self.snapshot_bytes = 0
        self.receipt_bytes = 0
        self.is_archiving_failed = False

    async def look(self, database: Database) -> None:
        """Measure the tables, and ask whether archiving fails.

        Raises:
            DatabaseUnavailable: the database cannot be asked; the figures stay as they were.
        """
        self.journal_bytes, self.snapshot_bytes, self.receipt_bytes = await database.read(sizes)
        self.is_archiving_failed = await database.read(read_failed_archiving) is not None
