"""The part of the console: its files, read once, at the start."""

import trio

from routes.console.static_files import StaticFiles, read_static_files, shipped_static_files
from routes.part import Opening, Part


async def _open(opening: Opening) -> StaticFiles:
    folder = opening.config.console_source
    if folder is None:
        return await trio.to_thread.run_sync(shipped_static_files)
    return await trio.to_thread.run_sync(read_static_files, folder)


STATIC_FILES = Part(name="files of the console", open=_open)
"""What is served to browsers."""
