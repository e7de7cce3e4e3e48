"""The part of the console: its files, read once, at the start."""

from pathlib import Path

import trio

from routes.config.config import Config
from routes.console.static_files import StaticFiles, read_static_files, shipped_static_files
from routes.edge.faults import OperatorFault
from routes.part import Opening, Part


def check_source(config: Config) -> StaticFiles | None:
    """The files of the console from the folder of `PARTYLINE_CONSOLE_SOURCE`; None without that setting. Blocks.

    Args:
        config: the configuration.

    Raises:
        OperatorFault: the folder does not have them.
    """
    return None if config.console_source is None else _read_source(config.console_source)


async def _open(opening: Opening) -> StaticFiles:
    own = await trio.to_thread.run_sync(check_source, opening.config)
    return await trio.to_thread.run_sync(shipped_static_files) if own is None else own


def _read_source(folder: Path) -> StaticFiles:
    try:
        return read_static_files(folder)
    except OSError as fault:
        why = f"{fault.filename} cannot be read: {fault.strerror}"
    except KeyError as fault:
        why = f"{fault.args[0]} is not there"
    except ValueError as fault:
        why = str(fault)
    raise OperatorFault(f"PARTYLINE_CONSOLE_SOURCE={folder}: these are not the files of the console: {why}")


STATIC_FILES = Part(name="files of the console", open=_open)
"""The files that are served to browsers."""
