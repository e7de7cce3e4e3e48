"""Wire: the service's own pages open sockets, whatever Host a proxy before it passes on."""

from pathlib import Path

import pytest

from tests.support.websocket import Refused
from tests.support.world import open_world

LIVE = "/v1/social/live?channels="


async def test_pages_of_both_own_addresses_open_sockets(database_url: str, tmp_path: Path) -> None:
    own = {"base_url": "https://Play.example:8443", "dashboard_url": "https://console.example:443/below"}
    async with open_world(database_url, tmp_path, **own) as world:
        ann = await world.player("Ann")
        for origin in ("https://play.example:8443", "https://console.example"):
            async with ann.live(LIVE, headers=[("origin", origin)]) as live:
                assert (await live.receive_json())["type"] == "hello"
        for origin in ("https://play.example", "http://console.example", "https://below"):
            with pytest.raises(Refused):
                async with ann.live(LIVE, headers=[("origin", origin)]):
                    pass
