"""What tests of friends share."""

from typing import Any

from tests.support.world import Player, World


async def entry_of(player: Player, friend: Player) -> Any:
    (entry,) = [one for one in (await player.get(FRIENDS))["friends"] if one["friendId"] == friend.id]
    return entry


FRIENDS = "/v1/social/friends"


REQUESTS = f"{FRIENDS}/requests"


BLOCKS = f"{FRIENDS}/blocks"


async def ask(one: Player, other: Player, **more: Any) -> Any:
    return await one.do("POST", REQUESTS, {"targetId": other.id, **more}, status=201)


async def make_friends(one: Player, other: Player) -> None:
    asked = await ask(one, other)
    await other.do("POST", f"{REQUESTS}/{asked['id']}/accept", status=200)


async def friends_of(player: Player) -> set[str]:
    return {friend["name"] for friend in (await player.get(FRIENDS))["friends"]}


async def waiting(player: Player) -> tuple[list[str], list[str]]:
    """The names of users whose requests wait for the player's answer, and of those whose answer the player waits
    for."""
    found = await player.get(REQUESTS)
    incoming = [request["player"]["name"] for request in found["incoming"]]
    return incoming, [request["player"]["name"] for request in found["outgoing"]]


NOW_MS = 1_800_000_000_000


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at_ms = NOW_MS

    def now_ms(self) -> int:
        return self.at_ms


async def become(world: World, relation: str, viewer: Player, tom: Player) -> None:
    """Bring about a relation, by its name, between the viewer and Tom."""
    match relation:
        case "friend":
            await make_friends(viewer, tom)
        case "former friend":
            await make_friends(viewer, tom)
            await tom.do("DELETE", f"{FRIENDS}/{viewer.id}")
        case "has asked":
            await ask(viewer, tom)
        case "was asked":
            await ask(tom, viewer)
        case "blocked friend":
            await make_friends(viewer, tom)
            await tom.do("POST", BLOCKS, {"targetId": viewer.id})
        case "blocking":
            await viewer.do("POST", BLOCKS, {"targetId": tom.id})
        case "admin":
            await world.grant(viewer, "admin:user:view")
