"""Wire: who may read whose saved servers (service-api §5 rule 7), in a table of visibilities, relations and routes."""

import pytest

from actors.ids import new_uuid
from tests.friends.play import become, make_friends
from tests.saved_servers.play import SAVED, save_all
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

ROUTES = ("saved", "favorites")
DENIED = (403, "VISIBILITY_DENIED")

# {relation of who looks: whether they see PUBLIC, FRIENDS, PRIVATE}
SEES = {
    "oneself": (True, True, True),
    "admin": (True, True, True),
    "holder": (True, True, True),
    "friend": (True, True, False),
    "stranger": (True, False, False),
    "former friend": (True, False, False),
    "has asked": (True, False, False),
    "was asked": (True, False, False),
    "blocked friend": (True, False, False),
    "blocking": (True, False, False),
}
CELLS = [
    (relation, visibility, sees)
    for relation, row in SEES.items()
    for visibility, sees in zip(("PUBLIC", "FRIENDS", "PRIVATE"), row, strict=True)
]


def path(id: str, route: str) -> str:
    return f"/v1/users/{id}/public-servers/{route}"


async def show(player: Player, visibility: str) -> None:
    await player.do("PATCH", "/v1/profile/settings", {"privacy": {"serverListVisibility": visibility}})


async def fill(player: Player) -> list[str]:
    ids = await save_all(player, "a.example", "b.example", "c.example")
    await player.do("PATCH", f"{SAVED}/{ids[1]}", {"favorite": True})
    return ids


@in_one_world(("relation", "visibility", "sees"), CELLS)
async def test_who_sees_a_list(world: World, relation: str, visibility: str, sees: bool) -> None:
    tom, viewer = await world.players("Tom", "Viewer")
    ids = await fill(tom)
    await show(tom, visibility)
    if relation == "oneself":
        viewer = tom
    elif relation == "holder":
        await world.grant(viewer, "social:servers.read.others")
    else:
        await become(world, relation, viewer, tom)
    for route, shown in zip(ROUTES, (ids, ids[1:2]), strict=True):
        if sees:
            assert (await viewer.get(path(tom.id, route)))["serverIds"] == shown
        else:
            assert await viewer.refused("GET", path(tom.id, route)) == DENIED


async def test_the_list_of_another_is_as_they_see_it(world: World) -> None:
    tom, ben = await world.players("Tom", "Ben")
    await fill(tom)
    await make_friends(tom, ben)
    seen = await ben.get(path(tom.id, "saved"))
    assert seen == await tom.get(SAVED)
    favorites = await ben.get(path(tom.id, "favorites"))
    assert favorites["items"] == [seen["items"][1]]
    assert favorites["counts"] == {"total": 3, "favorites": 1}
    # What they see, they may save.
    await ben.do("POST", SAVED, {"serverId": seen["serverIds"][2]}, status=201)


@pytest.mark.parametrize("route", ROUTES)
async def test_somebody_who_is_not_there_is_told_apart_by_those_alone_who_see_all(
    world: World, route: str
) -> None:
    tom, viewer = await world.players("Tom", "Viewer")
    await show(tom, "PRIVATE")
    nowhere = path(new_uuid(bytes), route)
    there, not_there = await viewer.ask("GET", path(tom.id, route)), await viewer.ask("GET", nowhere)
    differing = {key for key, value in there.json().items() if not_there.json()[key] != value}
    assert (there.status_code, differing) == (not_there.status_code, {"requestId"})
    await world.grant(viewer, "social:servers.read.others")
    assert await viewer.refused("GET", nowhere) == (404, "NOT_FOUND")
    assert await viewer.refused("GET", path("nonsense", route)) == (404, "NOT_FOUND")
    assert await world.nobody().refused("GET", path(tom.id, route)) == (401, "UNAUTHENTICATED")
