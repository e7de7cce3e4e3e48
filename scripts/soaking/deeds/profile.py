"""What users do with their settings and saved servers, and what they look at."""

from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene

SAVED = "/v1/profile/public-servers/saved"


async def arrange(scene: Scene, asker: Asker) -> None:
    """Settings and options, as a launcher keeps them."""
    user = scene.someone()
    style = {"uiStyle": {"syncEnabled": True, "source": "soak", "payload": {"a": scene.rng.random()}}}
    await asker.ask("profile/settings", "PATCH", "/v1/profile/settings", user.token, style)
    options = {"options": {"fov": scene.rng.randrange(100)}}
    await asker.ask("profile/options", "PUT", "/v1/profile/minecraft-options", user.token, options)


async def save_server(scene: Scene, asker: Asker) -> None:
    """A server that is saved, and removed again."""
    user = scene.someone()
    address = f"s{scene.rng.randrange(50)}.example.org"
    made = await asker.ask("profile/save server", "POST", SAVED, user.token, {"address": address})
    await asker.ask("profile/saved", "GET", SAVED, user.token)
    await asker.ask("profile/unsave server", "DELETE", f"{SAVED}/{made['id']}", user.token)


PROFILE = (
    Deed(3, reading("profile/self", "/v1/profile/self")),
    Deed(2, arrange),
    Deed(1, save_server),
    Deed(1, reading("profile/level", "/v1/profile/level")),
    Deed(1, reading("profile/quests", "/v1/quests/daily-games")),
    Deed(1, reading("profile/capes", "/v1/public/capes")),
    Deed(1, reading("profile/totems", "/v1/profile/personal-totem/gallery")),
    Deed(1, reading("profile/regions", "/v1/social/voice/regions")),
)
