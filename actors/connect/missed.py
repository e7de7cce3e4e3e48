"""Replay what a viewer of a game server has missed: the journal has what changed, the rows how it is now.

Each event is told at its own offset, so that a client that counts finds no gap (contract §9), with its
subject as it is now.
"""

from collections.abc import Sequence
from typing import Any

from actors.connect.events import (
    CommandChanged,
    CommandNoted,
    ExtensionNoted,
    SettingsChanged,
    SettingsNoted,
)
from actors.pages import MAX_PAGE_BYTES
from persistence.connect import commands, extensions, settings
from persistence.connection import Connection


async def recall(
    conn: Connection, server_id: str, missed: Sequence[tuple[int, Any]]
) -> list[tuple[int, Any]] | None:
    """Replace the references in journal entries by their rows.

    Nothing large is read or rendered before it is known that all of it fits into a page: each entry of an extension is
    told as the whole list of them, up to 2 MB, and each of settings as all values of their source.

    Args:
        missed: (offset, event) in order, as the journal has them.

    Returns:
        The same offsets with the events that viewers are shown. None, so that a snapshot is sent instead, when what
            they show is larger than a page, or a row is no longer kept.
    """
    ids = [event.command.id for _, event in missed if isinstance(event, CommandNoted)]
    names = [event.settings.source for _, event in missed if isinstance(event, SettingsNoted)]
    lists = sum(isinstance(event, ExtensionNoted) for _, event in missed)
    told_bytes = await commands.total_bytes(conn, server_id, ids) if ids else 0
    told_bytes += await settings.total_bytes(conn, server_id, names) if names else 0
    told_bytes += lists * await extensions.total_bytes(conn, server_id) if lists else 0
    if told_bytes > MAX_PAGE_BYTES:
        return None
    rows = {row.id: row for row in await commands.named(conn, server_id, ids)} if ids else {}
    sources = {row.source: row for row in await settings.named(conn, server_id, names)} if names else {}
    recalled: list[tuple[int, Any]] = []
    for offset, event in missed:
        match event:
            case CommandNoted():
                command = rows.get(event.command.id)
                if command is None:
                    return None
                recalled.append((offset, CommandChanged(command)))
            case SettingsNoted():
                row = sources.get(event.settings.source)
                if row is None:
                    return None
                recalled.append((offset, SettingsChanged(row, ())))
            case _:
                recalled.append((offset, event))
    return recalled
