"""Wire: every route of friends with every sort of caller, and the live sockets that hear of what they do."""

import json
from typing import Any, NamedTuple

import pytest

from tests.friends.play import BLOCKS, FRIENDS, REQUESTS, ask, make_friends
from tests.support.spec import spec
from tests.support.world import Player, World

READ, WRITE, EDIT = "social:friends.read", "social:friends.write", "social:friends.edit"


class Row(NamedTuple):
    method: str
    path: str
    node: str
    allowed: int
    stranger: int
    body: Any = None


ROWS = [
    Row("GET", FRIENDS, READ, 200, 200),
    Row("GET", REQUESTS, READ, 200, 200),
    Row("GET", BLOCKS, READ, 200, 200),
    Row("GET", "/v1/users/FRIEND/friends", READ, 200, 403),
    Row("POST", REQUESTS, WRITE, 201, 201, {"targetId": "OTHER"}),
    Row("POST", f"{REQUESTS}/REQUEST/accept", EDIT, 200, 404),
    Row("POST", f"{REQUESTS}/REQUEST/decline", EDIT, 204, 404),
    Row("DELETE", f"{REQUESTS}/REQUEST", EDIT, 204, 404),
    Row("PATCH", f"{FRIENDS}/FRIEND", EDIT, 200, 404, {"favorite": True}),
    Row("DELETE", f"{FRIENDS}/FRIEND", EDIT, 204, 404),
    Row("POST", BLOCKS, EDIT, 201, 201, {"targetId": "OTHER"}),
    Row("DELETE", f"{BLOCKS}/BLOCKED", EDIT, 204, 404),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
async def test_each_route_with_each_caller(world: World, row: Row) -> None:
    ann, ben, cid, dan, eve = await world.players("Ann", "Ben", "Cid", "Dan", "Eve")
    await make_friends(ann, ben)
    await ann.do("POST", BLOCKS, {"targetId": cid.id})
    ids = {"FRIEND": ben.id, "BLOCKED": cid.id, "REQUEST": (await ask(dan, ann))["id"], "OTHER": eve.id}

    def fill(value: Any) -> Any:
        text = json.dumps(value)
        for name, id in ids.items():
            text = text.replace(name, id)
        return json.loads(text)

    path, body = fill(row.path), fill(row.body)

    async def answer(player: Player) -> int:
        return (await player.ask(row.method, path, body)).status_code

    assert await answer(world.nobody()) == 401
    assert await answer(Player(world, "", "", "nonsense")) == 401
    stranger = await world.player("Stranger")
    assert await answer(stranger) == row.stranger
    await world.grant(stranger, row.node, negated=True)
    assert await answer(stranger) == 403
    # Once the node is in the catalog it must be held (service-api §5 rule 6).
    await world.grant(eve, row.node)
    assert await answer(ann) == 403
    await world.grant(ann, row.node)
    assert await answer(ann) == row.allowed
    if "FRIEND" not in row.path and row.method != "GET" and row.allowed != 204:
        assert await answer(ann) in (200, 404, 409), "twice makes no second one"


@pytest.mark.one_node(because="when somebody was last seen is up to a minute old on other nodes")
async def test_live_sockets_hear_of_each_step(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with (
        ann.live("/v1/social/friends/live") as live,
        ben.live("/v1/social/live?channels=notifications") as own,
    ):

        async def seen() -> Any:
            frame = await live.receive_json()
            spec().check_frame("FriendsFrame", frame)
            return frame

        async def until(says: Any) -> Any:
            while not says(frame := await seen()):
                pass
            return frame

        assert (await seen())["friends"] == []
        made = await ask(ann, ben, note="hi")
        frame = await until(lambda frame: frame["requests"]["outgoing"])
        assert frame["requests"]["outgoing"][0] == {name: made[name] for name in made if name != "friend"}
        await ben.do("POST", f"{REQUESTS}/{made['id']}/accept")
        frame = await until(lambda frame: frame["friends"])
        assert frame["requests"] == {"incoming": [], "outgoing": []}
        assert frame["friends"] == (await ann.get(FRIENDS))["friends"]
        assert frame["friends"][0]["online"] is True
        await ben.do("PATCH", f"{FRIENDS}/{ann.id}", {"visibility": "HIDDEN"})
        frame = await until(lambda frame: not frame["friends"][0]["online"])
        assert frame["friends"] == (await ann.get(FRIENDS))["friends"]
        await ann.do("PATCH", f"{FRIENDS}/{ben.id}", {"favorite": True, "note": "x"})
        frame = await until(lambda frame: frame["counts"]["favorites"])
        assert frame["friends"] == (await ann.get(FRIENDS))["friends"]
        await ben.do("POST", BLOCKS, {"targetId": ann.id})
        frame = await until(lambda frame: not frame["friends"])
        assert frame["counts"] == {"total": 0, "favorites": 0, "online": 0}
        while (told := await own.receive_json()).get("type") != "snapshot" or not told["data"]["items"]:
            pass
        assert told["data"]["items"][0]["kind"] == "friend_request"
