"""Changes of versions whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World
from tests.versions.play import CHANNELS, RELEASES, SCOPE, a_publisher, resolved


async def a_release(world: World) -> Lost:
    publisher = await a_publisher(world)
    body = {"scope": SCOPE, "version": "1.0.0", "notes": MARK}
    return Lost(publisher.player, "POST", RELEASES, body, counted(publisher.player, RELEASES))


async def an_activation(world: World) -> Lost:
    publisher = await a_publisher(world)
    await publisher.published("1.0.0")
    release = await publisher.release("1.1.0")

    async def made() -> int:
        return int((await resolved(world))["targetVersion"] == "1.1.0")

    body = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    return Lost(publisher.player, "POST", CHANNELS, body, made, said=release["releaseId"].encode())


CASES = (
    a_release,
    an_activation,
)
