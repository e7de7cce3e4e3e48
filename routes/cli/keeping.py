"""The commands that keep an installation over years: backups, restores, exports and upgrades."""

import argparse
from collections.abc import Callable
from typing import Protocol

from routes.cli.files import named, named_to_write
from routes.cli.output import say
from routes.cli.running import run_trio
from routes.config.config import Config

# Each command imports what it needs when it is run.
# ruff: noqa: PLC0415


class Add(Protocol):
    """Adds a command to the parser."""

    def __call__(
        self, name: str, says: str, command: Callable[[argparse.Namespace, Config], int], /
    ) -> argparse.ArgumentParser:
        """Add a command; returns the parser of its own arguments."""
        ...


def add_keeping(add: Add) -> None:
    """Add these commands to the command line.

    Args:
        add: adds one command to the parser.
    """
    backup = add("backup", "write everything into one file, while the server runs or not", _backup)
    restore = add("restore", "restore a backup into an empty data folder", _restore)
    for parser, kind, says in (
        (backup, named_to_write, "the file, which must not exist"),
        (restore, named, "a backup, or the folder of an archive"),
    ):
        parser.add_argument("file", type=kind, metavar="FILE", help=says)
        parser.add_argument(
            "--passphrase-file",
            type=named,
            metavar="FILE",
            help="its first line seals the backup; - asks for it, or reads standard input",
        )

    restore.add_argument(
        "--until",
        metavar="TIME",
        help="of an archive (PARTYLINE_WAL_DIR): restore it as it was at this moment, 2026-11-26T10:15:00Z",
    )
    based = add(
        "base-backup",
        "copy the database into the archive, from which any later moment can be restored",
        _base,
    )
    based.add_argument("--keep", type=int, default=2, metavar="N", help="how many of these stay (default 2)")

    exported = add("export", "write everything that a user may take with them into a zip", _export)
    exported.add_argument("file", type=named_to_write, metavar="FILE", help="the file, which must not exist")
    exported.add_argument("--user", required=True, metavar="UUID", help="whose")
    add("accept-keys", "use the database with the keys that are there, though its own are lost", _accept)
    upgraded = add("upgrade-database", "move the embedded database to the newest PostgreSQL found", _upgrade)
    upgraded.add_argument(
        "--old-bin",
        type=named,
        metavar="FOLDER",
        help="programs of the old version, if it is not found by itself",
    )


def _backup(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.backup import make_backup
    from routes.cli.passphrase import read_passphrase

    passphrase = read_passphrase(arguments.passphrase_file, new=True)
    for line in run_trio(make_backup, arguments.file, config, passphrase):
        say(line)
    return 0


def _accept(_arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.accepting import accept_keys

    for line in run_trio(accept_keys, config):
        say(line)
    return 0


def _restore(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.archiving import moment, restore_archive
    from routes.cli.backup import restore_backup
    from routes.cli.faults import CommandFault
    from routes.cli.passphrase import read_passphrase

    until = moment(arguments.until)
    if arguments.file.is_dir():
        for line in run_trio(restore_archive, arguments.file, config, until):
            say(line)
        return 0
    if until is not None:
        raise CommandFault("--until is for the folder of an archive; a file is of one moment")
    passphrase = read_passphrase(arguments.passphrase_file)
    for line in run_trio(restore_backup, arguments.file, config, passphrase):
        say(line)
    return 0


def _base(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.archiving import make_base

    for line in run_trio(make_base, config, arguments.keep):
        say(line)
    return 0


def _export(arguments: argparse.Namespace, config: Config) -> int:
    from actors.ids import parse_uuid
    from persistence.blobs import Blobs
    from routes.cli.database import database_of
    from routes.cli.export import export_user
    from routes.cli.faults import CommandFault
    from routes.domains import DOMAINS

    user_id = parse_uuid(arguments.user)
    if user_id is None:
        raise CommandFault("--user wants a uuid")

    async def exported() -> str:
        async with database_of(config) as database:
            blobs = Blobs(config.shared_dir / "blobs")
            return await export_user(user_id, arguments.file, database, blobs, DOMAINS)

    say(run_trio(exported))
    return 0


def _upgrade(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.upgrade import upgrade_database

    say(run_trio(upgrade_database, config, arguments.old_bin))
    return 0
