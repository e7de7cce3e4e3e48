"""What people do before a story begins."""

import base64
import io

from PIL import Image

from tests.support.world import Player


def texture() -> str:
    """The picture of a cape, as a data address."""
    held = io.BytesIO()
    Image.linear_gradient("L").resize((64, 32)).convert("RGBA").save(held, "png")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


async def submit_cape(owner: Player, name: str) -> None:
    """Bring a cape before the moderators."""
    terms = await owner.get("/v1/profile/capes/upload-terms")
    await owner.do("POST", "/v1/profile/capes/upload-terms/accept", {"revision": terms["revision"]})
    cape = await owner.do("POST", "/v1/profile/capes", {"name": name, "texture": {"dataUrl": texture()}})
    await owner.do("POST", f"/v1/profile/capes/{cape['id']}/submit")


async def befriend(one: Player, other: Player) -> None:
    """Make two users friends."""
    sent = await one.do("POST", "/v1/social/friends/requests", {"targetId": other.id})
    await other.do("POST", f"/v1/social/friends/requests/{sent['id']}/accept")
