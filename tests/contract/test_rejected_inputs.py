"""Wire: every input that the description says is rejected (service-api §7), with its code, and that nothing changes.

`rejected_inputs.csv` is written by hand from the description. `$names` in it are what the scene has; `stays` is what
looks the same to the caller before and after, and where a game server calls, to Ann, who plays on it as Ben does.
"""

import csv
import json
from collections.abc import Callable, Mapping
from string import Template
from typing import Any

import pytest

from tests.connect.play import claimed
from tests.contract.scenes import SCENES
from tests.contract.sources import ROOT
from tests.support.websocket import Refused, connect
from tests.support.world import Player, World, world
from tests.voice.play import node_server

__all__ = ["world"]

MS_BETWEEN = 20_000
"""Time between two rows of a scene: what may be asked ten times in ten minutes is not refused for its rate, and a voice
node of the scene is not taken for gone yet."""


def _rows() -> list[dict[str, str]]:
    path = ROOT / "tests" / "contract" / "rejected_inputs.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


async def _server_of(world: World, *players: Player) -> Player:
    server = await claimed(world, await world.player("Owner"))
    for player in players:
        await server.seat(player)
    return server


async def _problem(world: World, player: Player, row: Mapping[str, str], fill: Callable[[str], str]) -> Any:
    path = fill(row["path"])
    if row["method"] == "WS":
        with pytest.raises(Refused) as refused:
            async with connect(world.url + path):
                pass
        return refused.value.problem
    body = json.loads(fill(row["body"])) if row["body"] else None
    return (await player.ask(row["method"], path, body)).json()


@pytest.mark.parametrize("scene", SCENES)
async def test_rejected_with_its_code(world: World, scene: str, subtests: pytest.Subtests) -> None:
    """All rows of a scene are tried on the same one: what is rejected changes nothing for the next."""
    ann, ben = await world.players("Ann", "Ben")
    names = {"ann": ann.id, "ben": ben.id, **await SCENES[scene](world, ann, ben)}
    people = {"ann": ann, "ben": ben, "nobody": world.nobody()}

    def fill(text: str) -> str:
        return Template(text).substitute(names)

    for row in _rows():
        if row["scene"] == scene:
            with subtests.test(f"{row['rejected']}: {row['method']} {row['path']}"):
                await _rejected(world, people, row, fill)
            world.clock.advance(MS_BETWEEN)


async def _rejected(
    world: World, people: Mapping[str, Player], row: Mapping[str, str], fill: Callable[[str], str]
) -> None:
    player = people.get(row["who"])
    watcher = player or people["ann"]
    if player is None:
        is_plain = row["who"] == "server"
        seated = people["ann"], people["ben"]
        player = await (_server_of(world, *seated) if is_plain else node_server(world))
    before = await watcher.get(fill(row["stays"])) if row["stays"] else None
    problem = await _problem(world, player, row, fill)
    assert (str(problem["status"]), problem["code"]) == (row["status"], row["code"]), problem
    pointers = [error["pointer"] for error in problem.get("errors") or []]
    assert pointers == ([row["pointer"]] if row["code"] == "VALIDATION_FAILED" or row["pointer"] else [])
    if row["stays"]:
        assert await watcher.get(fill(row["stays"])) == before


def test_every_scene_is_played():
    assert {row["scene"] for row in _rows()} == set(SCENES)
