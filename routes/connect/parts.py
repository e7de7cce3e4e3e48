"""The part of game servers: their kind of actor, and memory derived from their rows."""

from typing import Any

from actors.connect.live import Connect, open_connect
from actors.kernel.kind import Kind
from routes.part import Opening, Part
from routes.users.parts import PRESENCE

_SETTINGS_PURPOSE = "settings of game servers"  # the key of secret settings is derived from it


async def _open(opening: Opening) -> Connect:
    presence = await opening.of(PRESENCE)
    key = opening.keys.derive(_SETTINGS_PURPOSE)
    return await open_connect(opening.database, presence, key, opening.config.gateway_domain)


def _kinds(connect: Connect) -> tuple[Kind[Any, Any], ...]:
    return (connect.server,)


GAME_SERVERS = Part(name="game servers", open=_open, kinds=_kinds)
"""The kind of game servers, and memory that follows its events: players on them, and their credentials."""
