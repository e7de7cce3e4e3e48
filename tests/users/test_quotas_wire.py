"""Wire: what quota nodes say is so with the next request: friends, shared profiles, messages (service-api §8)."""

from collections.abc import Awaitable, Callable
from typing import Any

from actors.time import iso
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.users.play import PROFILE, SHARES

Seen = Callable[[Player], Awaitable[int]]


async def friends(ann: Player) -> int:
    found: int = (await ann.get("/v1/social/friends"))["counts"]["max"]
    return found


async def shares(ann: Player) -> int:
    """How many there may be, as is said when there are too many."""
    while True:
        answer = await ann.ask("POST", SHARES, PROFILE)
        if answer.status_code == 422:
            maximum: int = answer.json()["meta"]["max"]
            assert len((await ann.get(SHARES))["items"]) >= maximum
            return maximum


async def messages(ann: Player) -> int:
    """How many may be sent within ten seconds, as the header says."""
    room = await ann.talk_to(await ann.world.player("Ben"))
    answer = await ann.ask("POST", room.messages, {"content": "hello"})
    name, quota, window = answer.headers["ratelimit-policy"].split(";")
    assert (name, window) == ('"chat-send"', "w=10")
    assert (answer.status_code == 429) == (quota == "q=0")
    return int(quota.removeprefix("q="))


# {node: (what it drives, what holds without a grant, a unit for it)}
NODES: dict[str, tuple[Seen, int, str]] = {
    "social:friends.max": (friends, 250, "count"),
    "profile-share.max": (shares, 10, "count"),
    "social:chat.send": (messages, 30, "msgs"),
}


@in_one_world("node", NODES)
async def test_a_quota_is_true_with_the_next_request(world: World, node: str) -> None:
    seen, default, unit = NODES[node]
    ann, root = await world.player("Ann"), await world.super_admin()
    path = f"/v1/admin/users/{ann.id}/permissions"
    steps: list[tuple[dict[str, Any], int]] = [
        ({"value": 3}, 3),
        ({"value": {"value": 12, "unit": unit}}, 12),
        ({}, 12),  # left out: it stays
        ({"value": None}, default),  # cleared: the grant says no number
        ({"value": 4.9}, 4),
        ({"value": 5, "negated": True}, default),
        ({"value": 5, "expiresAt": iso(world.clock.now_ms())}, default),
        ({"value": 0}, 0),
    ]
    assert await seen(ann) == default
    for body, expected in steps:
        await root.do("POST", path, {"node": node, **body}, status=201)
        assert await seen(ann) == expected, body
    # A pattern carries no quantity for what it covers.
    await root.do("DELETE", f"{path}/{node}", status=200)
    await root.do("POST", path, {"node": node.replace("social", "*"), "value": 7}, status=201)
    assert await seen(ann) == (7 if "social" not in node else default)
    # What a quota says gates nothing.
    assert (await ann.ask("GET", "/v1/social/friends")).status_code == 200


async def test_a_quota_that_runs_out_is_the_default_again(world: World) -> None:
    ann, root = await world.player("Ann"), await world.super_admin()
    ends = {"node": "social:friends.max", "value": 300, "expiresAt": iso(world.clock.now_ms() + 60_000)}
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", ends)
    assert await friends(ann) == 300
    world.clock.advance(60_000)
    assert await friends(ann) == 250
