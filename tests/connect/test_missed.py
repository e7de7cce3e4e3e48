"""What a viewer has missed is told as long as it fits into a page, which is known before any of it is read."""

from typing import Any

import msgspec
import pytest

from actors.connect.events import (
    CommandNoted,
    CommandReference,
    ExtensionNoted,
    ExtensionReference,
    SettingsNoted,
    SettingsReference,
)
from actors.connect.missed import recall
from actors.connect.stream import Audience, Frames
from actors.pages import MAX_PAGE_BYTES
from actors.vault import Vault
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed
from tests.support.world import World, world

__all__ = ["world"]

LARGE = 60_000
FITTING = 15
"""So many of these are below a page, with all that is around them; twice as many are not."""


async def _scene(world: World) -> tuple[GameServer, dict[str, Any]]:
    """A server with large settings, a large command and a large extension, and the journal's entry of each."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    text = "x" * LARGE
    await ann.do("POST", "/v1/connect/extensions", {"extensionId": "shop", "name": "S"}, status=201)
    actions = [{"id": f"a{at}", "description": "d" * 500, "label": "l" * 460} for at in range(60)]
    await server.do("PUT", f"{server.path}/extensions/shop", {"actions": actions}, status=200)
    await ann.do("PUT", f"{server.path}/settings", {"source": "shop", "data": {"a": text}}, status=200)
    body = {"action": "a", "payload": {"a": text}}
    made = await ann.do("POST", f"{server.path}/commands", body, status=201)
    return server, {
        "extensions": ExtensionNoted(ExtensionReference("shop")),
        "settings": SettingsNoted(SettingsReference("shop")),
        "command": CommandNoted(CommandReference(made["command"]["id"])),
    }


@pytest.mark.parametrize("name", ["extensions", "settings", "command"])
async def test_what_was_missed_is_bounded_before_it_is_rendered(world: World, name: str):
    """A thousand changes to extensions of 2 MB would have been rendered as 2 GB."""
    server, entries = await _scene(world)
    kind, database = world.service.of(GAME_SERVERS).server, world.service.database
    state = world.home(kind.name, server.id).system.peek(kind, server.id)
    missed = [(at, entries[name]) for at in range(1, 2 * FITTING + 1)]
    assert await database.read(recall, server.id, missed) is None
    recalled = await database.read(recall, server.id, missed[:FITTING])
    assert recalled is not None
    assert [offset for offset, _ in recalled] == list(range(1, FITTING + 1))
    frames, audience = Frames(Vault(bytes(32))), Audience(is_server=False, commands=True, members=True)
    told = [frames.render_event(state, event, audience) for _, event in recalled]
    assert {delta.event for delta in told if delta} == {"settings_updated" if name == "settings" else name}
    size = len(msgspec.json.encode([delta.data for delta in told if delta]))
    assert MAX_PAGE_BYTES // 2 < size < MAX_PAGE_BYTES


async def test_small_changes_of_all_sorts_are_told_one_by_one(world: World):
    server, entries = await _scene(world)
    missed = list(enumerate(list(entries.values()) * 4, 1))
    recalled = await world.service.database.read(recall, server.id, missed)
    assert recalled is not None
    assert [offset for offset, _ in recalled] == [offset for offset, _ in missed]
    many = list(enumerate(list(entries.values()) * 8, 1))  # each sort by itself would fit
    assert await world.service.database.read(recall, server.id, many) is None
