"""Worlds of several nodes, whose clients send each request to the next one and open each socket on the next one.

    scripts/test --nodes=3 tests/chat

finds what holds on one node only: memory that other nodes are not told of, reads that are late elsewhere, events that
do not reach the others. What a test looks at in a node's memory on purpose is marked `one_node`, with the reason.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from actors.kernel.nodes import membership, ownership
from actors.kernel.nodes.shares import wanted
from routes import joining, retelling
from routes.service import Service
from tests.support.nats import NatsServer, running_nats
from tests.support.waiting import wait_until

_nodes = 1
_open = ExitStack()
_nats: NatsServer | None = None


def spread(nodes: int) -> None:
    """From now on let each world have so many nodes, which take their shares at once, by the clock of the test.

    They wait for each other longer than a service would: the machine runs all of them, and other tests.
    """
    global _nodes  # noqa: PLW0603  (one option of the whole test run)
    _nodes = nodes
    ownership.QUIET_SECONDS = 0.0
    membership.RENEW_SECONDS = 0.2
    retelling.FOLLOW_SECONDS = 10.0
    joining.CLOCK_MAX_MS = sys.maxsize


def gather() -> None:
    """Stop what worlds of several nodes share, at the end of the run."""
    global _nats  # noqa: PLW0603
    _open.close()
    _nats = None


def settings_of_nodes(folder: Path, settings: dict[str, str]) -> list[dict[str, str]]:
    """The settings of each node of a world, by field name.

    Args:
        folder: the world's folder, which its first node uses, and which has what all share.
        settings: settings of all nodes; with `nats_url` the test makes nodes of its own, and the world has one.
    """
    if _nodes == 1 or "nats_url" in settings:
        return [{"data_dir": str(folder), **settings}]
    shared = {"nats_url": _common_nats().url, "shared_dir": str(folder), **settings}
    others = [folder / f"node{number}" for number in range(2, _nodes + 1)]
    for other in others:
        other.mkdir(parents=True, exist_ok=True)
    return [{"data_dir": str(own), **shared} for own in (folder, *others)]


def _common_nats() -> NatsServer:
    global _nats  # noqa: PLW0603  (starting one for each test would take as long as the test)
    if _nats is None:
        _nats = _open.enter_context(running_nats())
    return _nats


async def settled(services: Sequence[Service]) -> None:
    """Wait until every shard has an owner, and each node its share, as all of them know."""
    places = [one.node.membership.where for one in services if one.node is not None]
    names = [place.node for place in places]

    async def is_settled() -> bool:
        known = [dict(place.counts()) for place in places]
        return all(set(place.held()) == wanted(names, place.node) for place in places) and all(
            one == known[0] for one in known
        )

    await wait_until(is_settled)


class InTurn(httpx2.AsyncBaseTransport):
    """Sends each request to the next of several servers, as a balancer does: their names stay as they were.

    Args:
        urls: the addresses of the servers; clients know the first one.
        transport: sends the requests to all servers.
    """

    def __init__(self, urls: Sequence[str], transport: httpx2.AsyncBaseTransport) -> None:
        self._known = urlsplit(urls[0]).port
        self._ports: Iterator[int | None] = cycle([urlsplit(url).port for url in urls])
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the next server; one to any other address goes there."""
        known = request.url
        if known.port == self._known:
            request.url = known.copy_with(port=next(self._ports))
        try:
            return await self._transport.handle_async_request(request)
        finally:
            request.url = known

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()
