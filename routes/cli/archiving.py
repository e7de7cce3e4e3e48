"""`partyline base-backup` and `partyline restore FOLDER`: continuous archiving, and the way back to any moment."""

import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import trio

from persistence.archiving.bases import About, Base, alone, bases_in, choose, prune, take, unpack
from persistence.archiving.files import FileArchive, bring_back
from persistence.archiving.timelines import newest_timeline
from persistence.backup import programs
from persistence.backup.faults import BackupFault
from persistence.backup.histories import name_anew
from persistence.bridge.database import open_database
from persistence.embedded.cluster import Cluster
from persistence.embedded.data_dir import restoring_into
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.lock import exclusive
from persistence.embedded.postgres import choose_home, open_cluster, running
from persistence.embedded.wal import archiving, kept_for_one, recovering
from persistence.schema import checks
from persistence.schema.migrate import check_known, read_applied
from routes.cli.backup import NAMING_SECONDS, SALT_BYTES, check_empty
from routes.cli.database import POOL_SIZE, reach
from routes.cli.faults import CommandFault
from routes.config.config import Config
from routes.edge.docs.version import VERSION

_UNREAD = re.compile(r'could not restore file "(\w[\w.]*)" from archive')
_TOO_LATE = "recovery ended before configured recovery target was reached"
_LAST = re.compile(r"last completed transaction was at log time (.+)")


def moment(text: str | None) -> datetime | None:
    """The moment that `--until` names.

    Args:
        text: ISO 8601 with an offset or `Z`; None for the end of the archive.

    Raises:
        CommandFault: the text has another form.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CommandFault(f"--until wants a moment such as 2026-11-26T10:15:00Z, and not {text}")
    return found


async def make_base(config: Config, keep: int) -> Iterator[str]:
    """Copy the database and the files into the archive, and remove what is not needed any more; returns the lines to
    print.

    Args:
        config: the configuration, which names the installation and its archive.
        keep: how many base backups stay, 1 or more.

    Raises:
        CommandFault: there is no archive, the database is not the embedded one, or `keep` is not positive.
        BackupFault: the base backup cannot be made, and nothing is left of it; or another one is being made.
        PersistenceError: the database cannot be reached.
    """
    archive = _archive(config)
    if keep < 1:
        raise CommandFault("--keep wants 1 or more")
    check = trio.from_thread.check_cancelled
    with alone(archive):
        async with reach(config) as reached:
            major = await reached.database.read(checks.read_major)
            migrations = await reached.database.read(read_applied)
            program = programs.find_program("pg_basebackup", at_least=major, pg_bin=config.pg_bin)

            def about(ended_at: str, first_segment: str) -> About:
                return About(VERSION, ended_at, major, first_segment, migrations)

            beside = (config.data_dir / "node", config.shared_dir / "keys")
            base = await trio.to_thread.run_sync(
                partial(take, archive, program, reached.dsn, beside=beside, about=about, check=check)
            )
            return await trio.to_thread.run_sync(_tidy, config, archive, base, keep)


def _tidy(config: Config, archive: Path, base: Base, keep: int) -> Iterator[str]:
    files = FileArchive(config.shared_dir, archive)
    copied = files.copy_new(trio.from_thread.check_cancelled)
    removed = sum(1 for _ in prune(archive, keep))
    removed += files.forget_removed(bases_in(archive)[0].about.ended.timestamp())
    size = sum(path.stat().st_size for path in base.folder.rglob("*") if path.is_file())
    lines = [f"{base.folder}: {size:,} bytes, and {copied:,} new files"]
    if removed:
        lines.append(f"{removed:,} files of the archive were not needed any more")
    return iter(lines)


async def restore_archive(archive: Path, config: Config, until: datetime | None) -> Iterator[str]:
    """Restore an archive into an empty data folder, as of a moment; returns the lines to print.

    Args:
        archive: the archive's folder.
        config: the configuration, which names the data folder.
        until: the moment; None for the end of the archive.

    Raises:
        BackupFault: there is no base backup from before that moment, or the archive ends before it; or the base, or
            the log after it, is damaged or cannot be read.
        MigrationChanged: the base's schema is newer than this version.
        CommandFault: the shared folder is not empty, or a database other than the embedded one is configured.
        ClusterFaulty: the data folder is not empty.
        PersistenceError: the database cannot be run.
    """
    if config.database_url is not None:
        raise CommandFault("an archive is of the embedded database: unset PARTYLINE_DATABASE_URL")
    base = await trio.to_thread.run_sync(choose, archive, until)
    check_known(base.about.migrations)
    check_empty(config.shared_dir)
    with restoring_into(config.data_dir):
        home, account = await trio.to_thread.run_sync(choose_home, config.data_dir)
        with ExitStack() as held:
            held.enter_context(exclusive(home))
            await trio.to_thread.run_sync(unpack, base, home, account)
            options = recovering(archive, until)
            if config.wal_dir is not None and not _is_taken(base, archive, config.wal_dir):
                # The archive gets the history of the new timeline as soon as that begins.
                options |= await trio.to_thread.run_sync(archiving, config.wal_dir, account)
                held.enter_context(kept_for_one(config.wal_dir))
            cluster = await trio.to_thread.run_sync(open_cluster, home, account, config.pg_bin, options)
            with _in_terms_of(archive, home):
                last = await _recover(cluster)
        await trio.to_thread.run_sync(_beside, base, archive, config)
    return iter((f"restored into {config.data_dir}, as it was at {last or base.about.ended_at}",))


def _is_taken(base: Base, archive: Path, wal_dir: Path) -> bool:
    """Whether the archive has a timeline of another cluster by the number on which this restore ends; the next start
    then moves the log behind it."""
    ends_on = newest_timeline(archive, int(base.about.first_segment[:8], 16)) + 1
    return any((wal_dir / "wal").glob(f"{ends_on:08X}*"))


async def _recover(cluster: Cluster) -> str | None:
    """Replay the log, and give all histories new names; returns the moment of the last transaction."""
    async with (
        running(cluster),
        open_database(cluster.dsn, pool_size=POOL_SIZE) as database,
    ):
        last = await database.read(checks.read_replayed)
        await database.transact(name_anew, secrets.token_bytes(SALT_BYTES), timeout_seconds=NAMING_SECONDS)
    return last


@contextmanager
def _in_terms_of(archive: Path, home: Path) -> Iterator[None]:
    """If PostgreSQL ends within the block, raise a fault that says what is wrong with the archive or the moment."""
    try:
        yield
    except ClusterFaulty as fault:
        if _TOO_LATE in str(fault):
            last = _LAST.findall((home / "postgres.log").read_text("utf-8", "replace"))
            ends = f"at its last transaction, of {last[-1]}" if last else "at its base backup"
            raise BackupFault(
                f"the archive ends before that moment, {ends}; without --until all of it is restored"
            ) from fault
        if (match := _UNREAD.search(str(fault))) is None:
            raise
        raise BackupFault(
            f"{archive / 'wal' / match[1]}.gz is damaged or cannot be read, and what is newer cannot be restored: see "
            f"{home / 'postgres.log'}; --until restores to a moment before it"
        ) from fault


def _beside(base: Base, archive: Path, config: Config) -> None:
    shutil.copy2(base.folder / "node", config.data_dir / "node")
    shutil.copytree(base.folder / "keys", config.shared_dir / "keys", copy_function=shutil.copy2)
    bring_back(archive, config.shared_dir, trio.from_thread.check_cancelled)


def _archive(config: Config) -> Path:
    if config.wal_dir is None:
        raise CommandFault("there is no archive: set PARTYLINE_WAL_DIR")
    if config.database_url is not None:
        raise CommandFault("PARTYLINE_WAL_DIR is for the embedded database; yours has archiving of its own")
    return config.wal_dir.absolute()
