"""What tests of releases share: a publisher, releases, channels, and clients that ask."""

from dataclasses import dataclass
from typing import Any

from tests.support.world import Player, World

RELEASES = "/v1/versions/releases"
CHANNELS = "/v1/versions/channels/active"
EVENTS = "/v1/versions/events"
RESOLVE = "/v1/public/versions/resolve"
DOWNLOAD = "/v1/public/versions/download"
ASSETS = "/v1/public/versions/assets"
KEYS = "/v1/public/versions/keys"
TOLD = "/v1/public/versions/events"

SCOPE = {"type": "launcher", "id": "main"}
FILE = {
    "platform": "windows",
    "arch": "x64",
    "fileName": "setup.exe",
    "url": "https://files.example/setup.exe",
    "sizeBytes": 1_000,
    "sha256": "0" * 64,
}


@dataclass
class Publisher:
    """A user who may write and publish releases.

    Args:
        world: the service.
        player: the user, who holds the permission nodes.
    """

    world: World
    player: Player

    async def release(self, version: str = "1.0.0", **more: Any) -> Any:
        """Make a draft of a release with one file; returns it."""
        body = {"scope": SCOPE, "version": version, "artifacts": [FILE]}
        return await self.player.do("POST", RELEASES, body | more, status=201)

    async def activate(self, release: Any, channel: str = "stable", **more: Any) -> Any:
        """Point a channel to a release; returns the pointer."""
        scope = release["scope"]
        body = {
            "scopeType": scope["type"],
            "scopeId": scope["id"],
            "channel": channel,
            "releaseId": release["releaseId"],
        }
        return await self.player.do("POST", CHANNELS, body | more)

    async def published(self, version: str = "1.0.0", **more: Any) -> Any:
        """Publish a release to which the stable channel points; returns it."""
        release = await self.release(version, **more)
        await self.activate(release)
        return release

    async def changed(self, release: Any, **changes: Any) -> Any:
        """Change a release; returns it."""
        return await self.player.do("PATCH", f"{RELEASES}/{release['releaseId']}", changes)


async def a_publisher(world: World) -> Publisher:
    """Make a user with all permission nodes of releases."""
    player = await world.player("Pia")
    for node in ("versions:write", "versions:publish", "versions:track"):
        await world.grant(player, node)
    return Publisher(world, player)


async def resolved(world: World, version: str = "1.0.0", **more: Any) -> Any:
    """The answer about updates to a client of the stable channel."""
    asked = {
        "scopeType": SCOPE["type"], "scopeId": SCOPE["id"], "channel": "stable", "platform": "win32",
        "arch": "amd64", "version": version,
    }  # fmt: skip
    return await world.nobody().get(RESOLVE, **(asked | more))
