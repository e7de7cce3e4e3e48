"""What commands and their results cost: as much as they are themselves, however much else a server has."""

from pathlib import Path
from typing import Any

import pytest
import trio

from actors.connect.rules_commands import MAX_OPEN_BYTES
from tests.connect.play import GameServer, claimed
from tests.support.cost import decodes_of_rules
from tests.support.world import Player, open_world

CATALOG = "/v1/connect/extensions"


def _actions(count: int, prefix: str) -> list[dict[str, Any]]:
    fields = [{"key": f"k{at}", "type": "string"} for at in range(33)]
    return [{"id": f"{prefix}{at}", "schema": {"version": "1", "fields": fields}} for at in range(count)]


async def _register(owner: Player, server: GameServer, id: str, actions: list[dict[str, Any]]) -> None:
    await owner.do("POST", CATALOG, {"extensionId": id, "name": "E"}, status=201)
    await server.do("PUT", f"{server.path}/extensions/{id}", {"actions": actions}, status=200)


async def _decodes(owner: Player, server: GameServer, action: str) -> int:
    """How often rules decode anything for twenty commands at once."""
    with decodes_of_rules() as decoded:
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(_give, owner, server, action)
    return len(decoded)


async def _give(owner: Player, server: GameServer, action: str) -> None:
    await owner.do("POST", f"{server.path}/commands", {"action": action}, status=201)


@pytest.mark.one_node(because="what passes requests on between nodes decodes, too")
async def test_no_command_costs_more_where_more_is_registered(database_url: str, tmp_path: Path):
    """Of 32 extensions with 60 actions each, all 2 MB were decoded twice for each command, on the event loop."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        await _register(ann, server, "e0", _actions(1, "first-"))
        few = [await _decodes(ann, server, action) for action in ("first-0", "none")]
        for at in range(1, 32):
            await _register(ann, server, f"e{at}", _actions(60, f"e{at}-"))
        many = [await _decodes(ann, server, action) for action in ("first-0", "none")]
        assert many == few
        assert few[0] <= 2 * 20  # the schema of its action, once for each


async def test_results_of_running_commands_are_bounded_and_final_ones_taken(
    database_url: str, tmp_path: Path
):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        path, large = f"{server.path}/commands", {"x": "x" * 65_000}
        answers: list[Any] = []
        for _ in range(70):
            made = await ann.do("POST", path, {"action": "a"}, status=201)
            ack = f"{path}/{made['command']['id']}/ack"
            answers.append(await server.ask("POST", ack, {"status": "running", "result": large}))
        assert [answer.status_code for answer in answers] == [200] * 64 + [422] * 6
        problem = answers[-1].json()
        assert (problem["code"], problem["meta"]) == ("QUOTA_EXCEEDED", {"max": MAX_OPEN_BYTES})
        done = await server.do("POST", ack, {"status": "success", "result": large}, status=200)
        assert done["command"]["result"] == large
