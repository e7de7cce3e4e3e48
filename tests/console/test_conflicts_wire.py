"""What two people change in two windows: whoever has not seen the other's change is told, and writes over nothing."""

from typing import NamedTuple

from scripts.upstreams.discord import GUILD
from tests.connect.play import claimed
from tests.networks.play import network
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

SETTINGS = "/v1/profile/settings"
PUBLICATIONS = "/v1/connect/publications"


class Saved(NamedTuple):
    """Something that forms save.

    Args:
        path: where it is read, and written with `method`.
        one, other: two ways to write it.
    """

    method: str
    path: str
    one: dict[str, object]
    other: dict[str, object]


def publication(kind: str, id: str) -> Saved:
    one = {"displayName": "Sky", "address": "play.example.org"}
    return Saved("PUT", f"{PUBLICATIONS}/{kind}/{id}", one, {**one, "tags": ["pvp"]})


async def saved_by(ada: Player, what: str) -> Saved:
    if what == "settings":
        private, shown = ({"privacy": {"serverListVisibility": value}} for value in ("PRIVATE", "PUBLIC"))
        return Saved("PATCH", SETTINGS, private, shown)
    if what == "server":
        return publication("server", (await claimed(ada.world, ada, "Survival")).id)
    sky = await network(ada)
    if what == "published":
        return publication("network", sky.id)
    if what == "discord":
        quiet: dict[str, object] = {"guildId": GUILD, "events": []}
        return Saved("PUT", f"{sky.path}/discord", quiet, {**quiet, "events": ["news_published"]})
    return Saved("PATCH", sky.path, {"publicSummary": "Above"}, {"slug": "sky-1"})


async def tag_of(player: Player, path: str) -> str:
    answer = await player.ask("GET", path)
    assert answer.status_code == 200, answer.text
    return answer.headers["etag"]


@in_one_world("what", ["settings", "network", "published", "server", "discord"])
async def test_whoever_has_seen_an_older_one_is_told(world: World, what: str) -> None:
    ada = await world.player("Ada")
    method, path, one, other = await saved_by(ada, what)
    seen = await tag_of(ada, path)
    saved = await ada.ask(method, path, one, headers={"if-match": seen})
    assert saved.status_code == 200, saved.text
    now = saved.headers["etag"]
    assert now != seen
    assert now == await tag_of(ada, path)
    for stale in (seen, f'W/"{now}"', '"x"', "x"):
        refused = await ada.ask(method, path, other, headers={"if-match": stale})
        assert (refused.status_code, refused.json()["code"]) == (409, "REVISION_CONFLICT"), stale
    assert await tag_of(ada, path) == now
    for headers in ({"if-match": f'"x", {now}'}, {"if-match": "*"}, {}):
        assert (await ada.ask(method, path, other, headers=headers)).status_code == 200, headers


async def test_what_the_service_notes_is_nobody_s_conflict(world: World) -> None:
    """A status changes how a publication is shown, and nothing of what its owner has written."""
    ada = await world.player("Ada")
    server = await claimed(world, ada, "Survival")
    method, path, one, other = publication("server", server.id)
    now = (await ada.ask(method, path, one)).headers["etag"]
    status = {"online": True, "playerCount": 3, "playerCapacity": 20, "motd": "hello"}
    await server.do("PUT", f"{server.path}/publication/status", status)
    assert await tag_of(ada, path) == now
    assert (await ada.ask(method, path, other, headers={"if-match": now})).status_code == 200


async def test_a_network_is_read_by_its_owner_alone(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    sky = await network(ada)
    assert (await ada.get(sky.path))["networkId"] == sky.id
    assert await ben.refused("GET", sky.path) == (404, "NOT_FOUND")
