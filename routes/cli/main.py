"""`partyline`: the command line (contract §11). Reads arguments and configuration, and calls the command.

stdout carries only the command's output. An error that the user can fix is one line on stderr and exit code 1; invalid
arguments are exit code 2, as usual; Ctrl-C is exit code 130, without a word, and SIGTERM ends it likewise; a bug is a
traceback.
"""

import argparse
import contextlib
import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from actors.users.permissions import Role
from persistence.errors import PersistenceError
from routes.cli.clustering import add_nodes
from routes.cli.ending import ended_in_order
from routes.cli.files import named
from routes.cli.keeping import add_keeping
from routes.cli.output import finish, say
from routes.cli.running import run_trio
from routes.cli.streams import let_go, open_missing, spell_out
from routes.config.config import Config, read_config
from routes.config.environment import process_environment
from routes.edge.faults import OperatorFault
from routes.edge.identity.lifetimes import TOKEN_TTL_SECONDS

# Each command imports what it needs when it is run: importing all routes takes a second.
# ruff: noqa: PLC0415

KNOWN_FAULTS = (OperatorFault, PersistenceError)
"""Errors that are printed as one line."""

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
"""Error numbers of a disk that takes no more data. They are known wherever a file is written; the error names it."""

IN_THE_WAY = {errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}
"""Error numbers of a file of another owner or of another kind: known only for files in the service's folders."""

PROCESSES = "PARTYLINE_PROCESSES"

Command = Callable[[argparse.Namespace, Config], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code.

    Args:
        argv: the arguments after the program's name; None takes those of the process.
    """
    open_missing()
    spell_out()
    with ended_in_order():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    folders: tuple[Path, ...] = ()
    try:
        arguments = _parser().parse_args(argv)
        config = read_config(process_environment())
        folders = (config.data_dir, config.shared_dir)
        if arguments.logs:
            from routes.logs import configure_logging

            configure_logging(config, least=arguments.log_level)
        command: Command = arguments.command
        code = command(arguments, config)
        finish()
    except BrokenPipeError:  # the reader of stdout has ended, as `head` does
        return 128 + signal.SIGPIPE
    except (*KNOWN_FAULTS, OSError, KeyboardInterrupt, BaseExceptionGroup) as raised:
        return _status_after(raised, folders)
    finally:
        let_go()
    return code


def _status_after(raised: BaseException, folders: Sequence[Path]) -> int:
    """The exit status after an exception: prints one line for what an operator can mend, and none for Ctrl-C; raises
    anything else again.

    Args:
        folders: the service's folders, whose files an operator can mend.
    """
    every = list(_leaves(raised))
    if not all(_is_known(one, folders) for one in every):
        raise raised
    if any(isinstance(one, KeyboardInterrupt) for one in every):
        return 128 + signal.SIGINT
    return _report_fault(every[0])


def _leaves(raised: BaseException) -> Iterator[BaseException]:
    """The exceptions inside groups, in which a nursery wraps what is raised in it; or the exception itself."""
    if isinstance(raised, BaseExceptionGroup):
        for one in raised.exceptions:
            yield from _leaves(one)
    else:
        yield raised


def _is_known(fault: BaseException, folders: Sequence[Path]) -> bool:
    if not isinstance(fault, OSError):
        return isinstance(fault, (*KNOWN_FAULTS, KeyboardInterrupt))
    if fault.errno in FULL:
        return True
    if fault.errno not in IN_THE_WAY or not isinstance(fault.filename, (str, bytes)):
        return False
    path = Path(os.fsdecode(fault.filename)).absolute()
    return any(path.is_relative_to(folder.absolute()) for folder in folders)


def _report_fault(fault: BaseException) -> int:
    if isinstance(fault, OSError):
        where = "" if fault.filename is None else f"{fault.filename}: "
        fault = OperatorFault(f"{where}{fault.strerror}")
    with contextlib.suppress(OSError):  # the status says it as well
        sys.stderr.write(f"partyline: {fault}\n")
    return 1


class _Version(argparse.Action):
    """Looks the version up only for `--version`: the lookup takes a tenth of a command's start."""

    def __call__(self, parser: argparse.ArgumentParser, *_given: object) -> None:
        from routes.edge.docs.version import VERSION

        say(VERSION)
        finish()
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="partyline", description="The social server of a game community.", allow_abbrev=False
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is, and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(
        name: str, says: str, command: Command, *, log_level: str | None = "warning", logs: bool = True
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=says, description=says, allow_abbrev=False)
        added.set_defaults(command=command, log_level=log_level, logs=logs)
        return added

    serve = add("serve", "serve until SIGTERM", _serve, log_level=None)
    serve.add_argument(
        "--processes", type=int, metavar="N", help="how many nodes; default: PARTYLINE_PROCESSES, 1"
    )
    add("migrate", "bring the database up to this version", _migrate, log_level=None)
    add("health", "ask the server on this machine whether it is ready", _health)
    add("routes", "print every route: method, path, permission, rate, handler", _routes)
    add_nodes(add)
    add("doctor", "look at everything that a start depends on, and say what to do", _doctor)
    token = add("token", "make a user if need be, and print an access token for them", _token)
    token.add_argument("--name", required=True, help="what the user is called")
    token.add_argument("--id", metavar="UUID", help="whose token; left out: a new user")
    roles = [role.value for role in Role if role is not Role.USER]
    token.add_argument("--role", choices=roles, help="a role to give them")
    token.add_argument(
        "--ttl", type=int, default=TOKEN_TTL_SECONDS, metavar="SECONDS", help="default: %(default)s, 30 days"
    )
    signin = add("signin", "print a link that signs a user in with a browser, once", _signin)
    signin.add_argument("--name", required=True, help="who; made if nobody is called so")
    signin.add_argument("--id", metavar="UUID", help="whose link; left out: the one user with this name")
    signin.add_argument("--role", choices=roles, help="a role to give them")
    add_keeping(add)
    add("openapi", "print the OpenAPI document", _openapi)
    add("config", "print every setting: name, default, meaning", _config, logs=False)
    archive = add("archive", "the archive of old chat messages", _archive_import)
    _add_import(archive, "take in archived messages from JSON lines")
    catalog = add("catalog", "catalogs of heads and banners, and games", _catalog_import)
    kinds = _add_import(catalog, "take in catalogs from JSON lines, each in place of the one of its name")
    says = "remove a catalog with its items, or a game"
    removed = kinds.add_parser("remove", help=says, description=says, allow_abbrev=False)
    removed.set_defaults(command=_catalog_remove)
    which = removed.add_mutually_exclusive_group(required=True)
    which.add_argument("slug", nargs="?", metavar="SLUG", help="of a catalog")
    which.add_argument("--game", metavar="ID", help="of a game")
    return parser


def _add_import(
    parser: argparse.ArgumentParser, says: str
) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    kinds = parser.add_subparsers(metavar="COMMAND", required=True)
    imported = kinds.add_parser("import", help=says, description=says, allow_abbrev=False)
    imported.add_argument("file", type=named, metavar="FILE", help="JSON lines; - for standard input")
    return kinds


def _serve(arguments: argparse.Namespace, config: Config) -> int:
    if arguments.processes is not None:
        config = read_config({**process_environment(), PROCESSES: str(arguments.processes)})
    if config.processes > 1 and not config.is_kept:
        from routes.keeper.keeper import run
    else:
        gc.disable()  # what is imported stays: looking through it again and again is in vain; `run` begins to collect
        from routes.process import run

    run(config)
    return 0


def _migrate(_arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.database import database_of

    async def opened() -> None:
        async with database_of(config):
            pass

    run_trio(opened)
    say("the database is at this version")
    return 0


def _health(_arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.health import ask_ready

    say(ask_ready(config))
    return 0


def _routes(_arguments: argparse.Namespace, _config: Config) -> int:
    from routes.cli.remembered import remembered

    def listed() -> str:
        from routes.cli.listing import list_routes
        from routes.domains import TABLE

        return "\n".join(list_routes(TABLE))

    say(remembered("routes", listed))
    return 0


def _doctor(_arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.doctor import examine

    async def examined() -> int:
        ill = 0
        async for finding in examine(config):
            say(str(finding))
            ill += finding.ill
        return ill

    return 1 if run_trio(examined) else 0


def _token(arguments: argparse.Namespace, config: Config) -> int:
    from actors.kernel.clock import SystemClock
    from routes.cli.database import database_of
    from routes.cli.token import TokenWish, make_token
    from routes.matching import keys_of

    wish = TokenWish.of(arguments.name, arguments.id, arguments.role, arguments.ttl)

    async def minted() -> str:
        async with database_of(config) as database:
            keys = await keys_of(database, config.shared_dir)
            return await make_token(wish, database, keys, SystemClock())

    say(run_trio(minted))
    return 0


def _signin(arguments: argparse.Namespace, config: Config) -> int:
    from actors.kernel.clock import SystemClock
    from routes.cli.database import database_of
    from routes.cli.signin import make_sign_in_link
    from routes.cli.token import TokenWish

    wish = TokenWish.of(arguments.name, arguments.id, arguments.role, TOKEN_TTL_SECONDS)

    async def made() -> str:
        async with database_of(config) as database:
            return await make_sign_in_link(wish, database, config.dashboard_url, SystemClock())

    say(run_trio(made))
    return 0


def _openapi(_arguments: argparse.Namespace, _config: Config) -> int:
    from routes.cli.remembered import remembered

    def made() -> str:
        from routes.domains import TABLE
        from routes.edge.docs.openapi import openapi

        return openapi(TABLE).decode()

    say(remembered("openapi", made))
    return 0


def _config(_arguments: argparse.Namespace, _config: Config) -> int:
    from routes.cli.listing import list_settings

    for line in list_settings(process_environment()):
        say(line)
    return 0


def _archive_import(arguments: argparse.Namespace, config: Config) -> int:
    from actors.kernel.clock import SystemClock
    from routes.cli.archive import import_file, said
    from routes.cli.database import database_of

    async def imported() -> int:
        async with database_of(config) as database:
            report = await import_file(arguments.file, database, SystemClock())
        for line in said(report):
            say(line)
        return 1 if report.refused else 0

    return run_trio(imported)


def _catalog_import(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.catalog import import_file
    from routes.cli.database import database_of

    async def imported() -> bool:
        async with database_of(config) as database:
            return await import_file(arguments.file, database, say)

    return 0 if run_trio(imported) else 1


def _catalog_remove(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.catalog import remove
    from routes.cli.database import database_of

    async def removed() -> None:
        async with database_of(config) as database:
            await remove(arguments.slug, arguments.game, database, say)

    run_trio(removed)
    return 0
