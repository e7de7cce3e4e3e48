"""What tests of capes share: a world with capes in every state, and people who look at them."""

from typing import Any

from tests.capes.images import cape, data_url
from tests.support.world import Player, World

OWN, ADMIN, PUBLIC = "/v1/profile/capes", "/v1/admin/capes", "/v1/public/capes"
SELECTION, TERMS = f"{OWN}/selection", f"{OWN}/upload-terms"
STATES = ("draft", "pending", "approved", "private", "blocked")


def texture(red: int = 200) -> dict[str, str]:
    return {"dataUrl": data_url(cape(colour=(red, 30, 60, 255)))}


async def moderator(world: World) -> Player:
    return await world.ranked("Mod", "moderator")


async def upload(player: Player, name: str = "Phoenix", **more: Any) -> Any:
    body = {"name": name, "description": "burns brightly", "texture": texture(), **more}
    return await player.do("POST", OWN, body, status=201)


async def cape_in(state: str, owner: Player, mod: Player, **more: Any) -> Any:
    """A cape of the owner's, brought into a state by the routes alone."""
    await owner.do("POST", f"{TERMS}/accept")
    made = await upload(owner, **more)
    if state == "draft":
        return made
    submitted = await owner.do("POST", f"{OWN}/{made['id']}/submit")
    if state == "pending":
        return submitted
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", {"status": state})
    return await owner.get(f"{OWN}/{made['id']}")
