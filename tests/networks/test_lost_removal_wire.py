"""Wire: the answer to the COMMIT that removes a network is lost; memory shows what the rows say, gone or not."""

import pytest

from routes.news.parts import NEWS_LIVE
from tests.networks.play import Net, network
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.world import World

__all__ = ["proxy", "world"]

NEWS = "/v1/news"


def _remembers(world: World, net: Net) -> bool:
    """Whether what live news show has an article of the network in memory."""
    return any(entry.scope.id == net.id for entry in world.service.of(NEWS_LIVE)._recent.values())


@pytest.mark.one_node(because="looks into the memory of the node that removes the network")
@pytest.mark.parametrize("landed", [True, False])
async def test_memory_shows_what_the_rows_say(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann = await world.player("Ann")
    net = await network(ann)
    body = {"scope": {"type": "network", "id": net.id}, "title": "t", "body": "b", "status": "published"}
    await ann.do("POST", NEWS, body, status=201)
    assert _remembers(world, net)
    await lose(proxy, ann, "DELETE", net.path, landed=landed, said=b"DELETE FROM networks")
    await settled(world)
    assert _remembers(world, net) is not landed
    assert (await ann.ask("GET", net.path)).status_code == (404 if landed else 200)
    assert (await ann.ask("DELETE", net.path)).status_code == (404 if landed else 204)
