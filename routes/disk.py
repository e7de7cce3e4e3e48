"""Sizes of the stored tables, free space on the disks, and how the archive is; for the metrics."""

import shutil
from math import nan
from pathlib import Path

import trio

from persistence.archiving.bases import last_base_seconds
from persistence.bridge.database import Database
from persistence.journal.history import sizes
from persistence.schema.checks import read_failed_archiving, read_system_identifier
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
        last_base_seconds: when the newest base backup of this database was complete, epoch seconds; 0 for none, no
            number without an archive.
    """

    def __init__(self) -> None:
        self.journal_bytes = 0
        self.snapshot_bytes = 0
        self.receipt_bytes = 0
        self.is_archiving_failed = False
        self.last_base_seconds = nan

    async def look(self, database: Database, *, archive: Path | None) -> None:
        """Measure the tables, ask whether archiving fails, and look for the newest base backup of this database.

        Args:
            database: the database.
            archive: the archive's folder; None without one.

        Raises:
            DatabaseUnavailable: the database cannot be asked; the figures stay as they were.
        """
        self.journal_bytes, self.snapshot_bytes, self.receipt_bytes = await database.read(sizes)
        self.is_archiving_failed = await database.read(read_failed_archiving) is not None
        if archive is not None:
            system = await database.read(read_system_identifier)
            self.last_base_seconds = await trio.to_thread.run_sync(last_base_seconds, archive, system)
