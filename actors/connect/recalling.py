"""What a viewer of a game server has missed: the journal says what has changed, the rows how it is now.

Of several events about the same thing (one command, the settings of one source, all members) the last is told: what the
others said has been overtaken, and telling the same rows again would cost their bytes each time.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from actors.connect.events import CommandChanged, CommandNoted, SettingsChanged, SettingsNoted
from actors.pages import MAX_PAGE_BYTES
from persistence.connect import commands, settings
from persistence.connection import Connection


async def recall(
    conn: Connection, server_id: str, missed: Sequence[tuple[int, Any]]
) -> list[tuple[int, Any]] | None:
    """As in `Kind`; None when the commands take more than a page, in place of which a snapshot is sent."""
    last = {_subject(event): offset for offset, event in missed}
    told = [(offset, event) for offset, event in missed if last[_subject(event)] == offset]
    command_ids = [event.command.id for _, event in told if isinstance(event, CommandNoted)]
    if await commands.total_bytes(conn, server_id, command_ids) > MAX_PAGE_BYTES:
        return None
    rows = {row.id: row for row in await commands.named(conn, server_id, command_ids)}
    sources = {row.source: row for row in await settings.of_server(conn, server_id)}
    recalled: list[tuple[int, Any]] = []
    for offset, event in told:
        match event:
            case CommandNoted():
                command = rows.get(event.command.id)
                recalled += [] if command is None else [(offset, CommandChanged(command))]
            case SettingsNoted():
                row = sources.get(event.settings.source)
                recalled += [] if row is None else [(offset, SettingsChanged(row, ()))]
            case _:
                recalled.append((offset, event))
    return recalled


def _subject(event: Any) -> Hashable:
    """What the event is about. `delta` tells all members, extensions and the whole policy, as they are now."""
    match event:
        case CommandNoted():
            return "command", event.command.id
        case SettingsNoted():
            return "settings", event.settings.source
        case _:
            return type(event).__name__
