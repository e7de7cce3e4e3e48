"""What a viewer of a game server has missed: the journal says what has changed, the rows how it is now.

Each event is told at its own offset, so that a client which counts finds no gap (contract §9); what it is about is told
as it is now.
"""

from collections.abc import Sequence
from typing import Any

from actors.connect.events import CommandChanged, CommandNoted, SettingsChanged, SettingsNoted
from actors.pages import MAX_PAGE_BYTES
from persistence.connect import commands, settings
from persistence.connection import Connection


async def recall(
    conn: Connection, server_id: str, missed: Sequence[tuple[int, Any]]
) -> list[tuple[int, Any]] | None:
    """Read the rows that events of the journal refer to. None, so that a snapshot is sent, when the commands take
    more than a page, or when something that an event is about is no longer kept.
    """
    ids = list({event.command.id for _, event in missed if isinstance(event, CommandNoted)})
    if await commands.total_bytes(conn, server_id, ids) > MAX_PAGE_BYTES:
        return None
    rows = {row.id: row for row in await commands.named(conn, server_id, ids)}
    sources = {row.source: row for row in await settings.of_server(conn, server_id)}
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
