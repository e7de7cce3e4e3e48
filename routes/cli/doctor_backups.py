"""What `partyline doctor` says of backups, and of the archive of the embedded database."""

import time
from collections.abc import Iterator
from pathlib import Path

import trio

from persistence.archiving.bases import bases_of, last_base_seconds, usable_bases
from persistence.archiving.files import free_bytes
from persistence.backup.writing import last_backup_seconds
from persistence.bridge.database import Database
from persistence.embedded.system_identifier import of_cluster
from persistence.embedded.wal import SEGMENT_BYTES
from persistence.schema import checks
from routes.cli.finding import Finding
from routes.config.config import Config
from routes.disk import archive_of

BASE_MAX_DAYS = 8
"""A base backup that is older makes a restore long: all log since then is replayed."""

BACKUP_MAX_DAYS = 2
"""With a backup each night, the newest is never older than this."""

BASE_CURE = "run partyline base-backup, each week"


async def archive(database: Database, wal_dir: Path) -> Finding:
    """Say whether the log is archived, and from when the newest base backup of this database is.

    Args:
        database: the embedded database, running.
        wal_dir: the archive's folder.

    Raises:
        PersistenceError: the database cannot be asked.
        BackupFault: a base backup cannot be read.
    """
    failed = await database.read(checks.read_failed_archiving)
    if failed is not None:
        free = await trio.to_thread.run_sync(free_bytes, wal_dir)
        why = f", whose disk is full ({free:,} bytes are left)" if free < SEGMENT_BYTES else ""
        says = f"the log cannot be written to {wal_dir}{why}, as was last tried at {failed}"
        return Finding("archive", says, "see postgres.log below the data folder; the log grows meanwhile")
    system = await database.read(checks.read_system_identifier)
    found = await trio.to_thread.run_sync(bases_of, wal_dir, system)
    if not found:
        others = len(await trio.to_thread.run_sync(usable_bases, wal_dir))
        but = f" of this database, but {others} of an earlier one" if others else ""
        return Finding("archive", f"no base backup yet{but}", BASE_CURE)
    days = (time.time() - found[-1].about.ended.timestamp()) / 86_400
    cure = None if days <= BASE_MAX_DAYS else BASE_CURE
    return Finding("archive", f"{len(found)} base backups, the newest {days:.0f} days ago", cure, grave=False)


def backup(config: Config) -> Iterator[Finding]:
    """Say when the last backup was made, into a file or into the archive.

    Args:
        config: the configuration, which names the installation and its archive.
    """
    last = last_backup_seconds(config.shared_dir)
    days = (time.time() - last) / 86_400
    says = f"{days:.0f} days ago" if last else "never made"
    if days <= BACKUP_MAX_DAYS:
        yield Finding("backup", says)
    elif time.time() - _last_base_seconds(config) <= BASE_MAX_DAYS * 86_400:
        yield Finding("backup", f"{says}, and the archive has a base backup")
    else:
        yield Finding("backup", says, "run partyline backup FILE, each night", grave=False)


def _last_base_seconds(config: Config) -> float:
    """When the newest base backup of the database was complete, epoch seconds; 0 for none."""
    if (wal_dir := archive_of(config)) is None:
        return 0.0
    return last_base_seconds(wal_dir, of_cluster(config.data_dir / "postgres" / "data"))
