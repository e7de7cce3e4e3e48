"""`partyline backup FILE` and `partyline restore FILE`: all that an installation is made of, in one file.

A backup can be made while the server runs. Restoring reads the file to its end first, and changes nothing unless it is
whole.
"""

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import trio

from persistence.backup import programs, reading
from persistence.backup.archive import Origin
from persistence.backup.histories import name_anew
from persistence.backup.writing import STORES, Made, write_backup
from persistence.bridge.database import Database, open_database
from persistence.embedded.data_dir import restoring_into
from persistence.embedded.postgres import embedded_postgres
from persistence.schema import checks
from persistence.schema.migrate import check_known, read_applied
from routes.cli.database import POOL_SIZE, Reached, reach
from routes.cli.faults import CommandFault
from routes.cli.files import AS_SERVICE, is_closed
from routes.config.config import Config
from routes.edge.docs.version import VERSION
from routes.edge.identity.keys import MASTER_FILE

SALT_BYTES = 16

NAMING_SECONDS = 3600.0
"""Deadline of giving histories new names: one statement over all actors, and one over all users."""


async def make_backup(path: Path, config: Config, passphrase: bytes | None) -> Iterator[str]:
    """Write a backup; returns the lines to print about it.

    Args:
        path: the backup's file, which must not exist yet.
        config: the configuration, which names the installation.
        passphrase: what the file is sealed under; None leaves it plain.

    Raises:
        CommandFault: there is no installation.
        BackupFault: the backup cannot be made; no file is left.
        PersistenceError: the database cannot be reached.
    """
    keys_dir = config.shared_dir / "keys"
    if is_closed(keys_dir):
        raise CommandFault(f"{keys_dir} cannot be looked into: {AS_SERVICE}")
    if not (keys_dir / MASTER_FILE).exists():
        raise CommandFault(f"there is no installation in {config.shared_dir}; see PARTYLINE_DATA_DIR")
    async with reach(config) as reached:
        program, origin = await _origin(reached, config)
        check = trio.from_thread.check_cancelled
        made = await trio.to_thread.run_sync(
            partial(
                write_backup,
                path,
                config.data_dir,
                config.shared_dir,
                programs.dump(program, reached.dsn, check),
                origin=origin,
                passphrase=passphrase,
                check=check,
            )
        )
    return _summary_lines(path, made)


async def restore_backup(path: Path, config: Config, passphrase: bytes | None) -> Iterator[str]:
    """Restore a backup into an empty data folder and an empty database; returns the lines to print about it.

    Args:
        path: the backup's file.
        config: the configuration, which names the data folder and, unless it is embedded, the database.
        passphrase: the passphrase under which the file was sealed; None for a plain file.

    Raises:
        BackupFault: the file is damaged, of a newer version or sealed under another passphrase; or the database could
            not be filled.
        MigrationChanged: the backup's schema is newer than this version.
        CommandFault: the database or the shared folder is not empty, or the database's PostgreSQL is older than that of
            the backup.
        ClusterFaulty: the data folder is not empty.
        PersistenceError: the database cannot be reached or run.
    """
    check = trio.from_thread.check_cancelled
    origin = await trio.to_thread.run_sync(reading.verify, path, passphrase, check)
    check_known(origin.migrations)
    check_empty(config.shared_dir)
    unpack = partial(_unpack, path, config, passphrase)
    with restoring_into(config.data_dir):
        if config.database_url is not None:
            await _fill(config.database_url, origin, config, unpack)
        else:
            async with embedded_postgres(
                config.data_dir, pg_bin=config.pg_bin, wal_dir=config.wal_dir
            ) as dsn:
                await _fill(dsn, origin, config, unpack)
    return iter((f"restored into {config.data_dir}, as it was at {origin.created_at}",))


def check_empty(shared_dir: Path) -> None:
    """Refuse a shared folder that belongs to an installation.

    Raises:
        CommandFault: the folder has keys or files.
    """
    # The data folder itself is looked at once it is held; the two may be one.
    if any((shared_dir / name).exists() for name in ("keys", *STORES)):
        raise CommandFault(f"{shared_dir} is not empty; restore into an empty folder")


async def _origin(reached: Reached, config: Config) -> tuple[programs.Program, Origin]:
    major = await reached.database.read(checks.read_major)
    program = programs.find_program(
        "pg_dump", at_least=major, pg_bin=config.pg_bin, tls=_over_tls(config.database_url)
    )
    return program, Origin(
        version=VERSION,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        postgres_major=major,
        dump_major=program.major,
        migrations=await reached.database.read(read_applied),
    )


def _over_tls(database_url: str | None) -> bool:
    return database_url is not None and programs.wants_tls(database_url)


async def _fill(
    dsn: str, origin: Origin, config: Config, unpack: Callable[[programs.Program, str], None]
) -> None:
    async with open_database(dsn, pool_size=POOL_SIZE) as database:
        major = await _check_fits(database, origin)
        at_least = max(major, origin.dump_major)
        program = programs.find_program(
            "pg_restore", at_least=at_least, pg_bin=config.pg_bin, tls=_over_tls(config.database_url)
        )
        await trio.to_thread.run_sync(unpack, program, dsn)
        await database.transact(name_anew, secrets.token_bytes(SALT_BYTES), timeout_seconds=NAMING_SECONDS)


async def _check_fits(database: Database, origin: Origin) -> int:
    """The major version of a server that can take the backup in."""
    await database.read(checks.check_server)
    if not await database.read(checks.is_empty):
        raise CommandFault("the database is not empty; restore into an empty one")
    major = await database.read(checks.read_major)
    if major < origin.postgres_major:
        raise CommandFault(f"the backup is of PostgreSQL {origin.postgres_major}, and this one is {major}")
    return major


def _unpack(
    path: Path, config: Config, passphrase: bytes | None, program: programs.Program, dsn: str
) -> None:
    check = trio.from_thread.check_cancelled
    with programs.filling(program, dsn, check) as database:
        reading.unpack(path, config.data_dir, config.shared_dir, database, passphrase=passphrase, check=check)


def _summary_lines(path: Path, made: Made) -> Iterator[str]:
    for name in made.damaged:
        yield f"damaged: {name} is not what its name says; the disk may be failing"
    what = ", ".join(f"{name}: {one.bytes:,} bytes" for name, one in made.sums.items())
    yield f"{path}: {made.size_bytes:,} bytes ({what})"
