"""Wire: the answer to the COMMIT that removes a network is lost; memory shows what the rows say, gone or not."""

import pytest

from routes.news.parts import NEWS_LIVE
from tests.networks.play import network
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.world import World

__all__ = ["proxy", "world"]

NEWS = "/v1/news"


@pytest.mark.one_node(because="looks into the memory of the node that removes the network")
@pytest.mark.parametrize("landed", [True, False])
async def test_memory_shows_what_the_rows_say(world: World, proxy: Proxy, *, landed: bool) -> None:
    ann = await world.player("Ann")
    net = await network(ann)
    body = {"scope": {"type": "network", "id": net.id}, "title": "t", "body": "b", "status": "published"}
    await ann.do("POST", NEWS, body, status=201)
    assert net.id in world.service.of(NEWS_LIVE).networks
    await lose(proxy, ann, "DELETE", net.path, landed=landed, said=b"DELETE FROM networks")
    await settled(world)
    assert (net.id in world.service.of(NEWS_LIVE).networks) is not landed
    assert (await ann.ask("GET", net.path)).status_code == (404 if landed else 200)
    assert (await ann.ask("DELETE", net.path)).status_code == (404 if landed else 204)
