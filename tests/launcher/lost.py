"""Changes of the launcher's domain whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_performance_report(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")
    made = counted(root, "/v1/admin/launcher/performance-reports")
    return Lost(ann, "POST", "/v1/launcher/performance-reports", {"launcherVersion": MARK}, made)


async def an_allowlist(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")
    host = f"{MARK}.example.org"

    async def made() -> int:
        return (await ann.get("/v1/public/launcher/network-guard-allowlist"))["hosts"].count(host)

    return Lost(root, "PUT", "/v1/admin/launcher/network-guard-allowlist", {"hosts": [host]}, made)


CASES = (
    a_performance_report,
    an_allowlist,
)
