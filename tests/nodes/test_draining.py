"""A node that an operator drains: it owns nothing, sends its sockets away, answers all the same, and may be resumed."""

import pytest
import trio

from persistence.nodes import members
from persistence.nodes.members import Undrained
from routes.cli import draining
from routes.cli.faults import CommandFault
from tests.support.cluster import Cluster
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


async def test_a_drained_node_owns_nothing_until_it_is_resumed(cluster: Cluster) -> None:
    world = cluster.worlds["b"]
    service, other = world.service, cluster.worlds["a"].service
    assert service.node is not None
    name = service.node.membership.life.node
    config, lines = service.config, list[str]()
    ann, bob = await world.players("Ann", "Bob")
    room = await ann.talk_to(bob)

    async def drained() -> bool:
        return (await world.http.get("/ready")).status_code == 503

    async with ann.live("/v1/social/live?channels=") as socket, trio.open_nursery() as nursery:
        nursery.start_soon(draining.drain, config, name, lines.append)
        await wait_until(drained)
        async with ann.live("/v1/social/live?channels=") as before_anybody_knew:
            for one in (socket, before_anybody_knew):
                assert (await one.receive_until(type="reconnect"))["reason"] == "DRAINING"
                assert (await one.wait_closed()).code == 4503
    assert lines == [
        f"{name} owns 520 shards, which go to the others",
        f"{name} owns nothing; stop it, or: partyline nodes resume {name}",
    ]
    assert not service.placement.held()
    ready = [(await world.http.get("/ready")).status_code for world in cluster.worlds.values()]
    assert ready == [200, 503]
    await ann.say(room, "over the other")
    root = await cluster.worlds["a"].super_admin()
    shown = {one["name"]: one for one in (await root.get("/v1/admin/nodes"))["items"]}
    assert (shown[name]["state"], shown[name]["drained"]) == ("leaving", True)

    # The other one has to stay.
    assert other.node is not None
    last = other.node.membership.life.node
    with pytest.raises(CommandFault, match=f"^{last}: no other node would be left to serve$"):
        await draining.drain(config, last, lines.append)
    with pytest.raises(CommandFault, match=r"^nobody: no node of this name lives$"):
        await draining.resume(config, "nobody")

    assert await draining.resume(config, name) == f"{name} takes its share again"
    await cluster.settle()
    assert (await world.http.get("/ready")).status_code == 200
    await ann.say(room, "here again")


async def test_the_last_one_serves_though_it_is_drained(cluster: Cluster) -> None:
    service = cluster.worlds["b"].service
    assert service.node is not None
    membership = service.node.membership
    assert await service.database.transact(members.drain, membership.life.node) is None
    await cluster.remove("a")

    async def owns_all() -> bool:
        return len(service.placement.held()) == 1_040

    await wait_until(owns_all)
    assert await service.database.transact(members.drain, membership.life.node) is Undrained.LAST
