"""What a gateway does with every answer that a service, or something in front of it, may give."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
import trio

from scripts.gateway_node import control
from scripts.gateway_node.control import Control
from scripts.gateway_node.routes import Route, Routes
from scripts.gateway_node.service import NotCarried, Service, service_at
from scripts.upstreams.http import HttpServer, Manner, Reply, Request, as_json
from tests.gateway_node.play import IDENTITY
from tests.gateways.play import TOKEN
from tests.support.waiting import wait_until

SECRET = "not-for-the-terminal"
REGISTERED = as_json(201, {"gatewayId": "a" * 24, "gatewaySecret": SECRET, "heartbeatIntervalMs": 10_000})
ROUTE = {
    "routeHost": "a.example.org",
    "backendHost": "10.0.0.5",
    "backendPort": 25565,
    "proxyProtocol": False,
}
FIRST = as_json(200, {"routesRevision": 7, "routes": [ROUTE | {"revision": 7}]})
SECOND = as_json(200, {"routesRevision": 8, "routes": []})
REFUSED = as_json(401, {"code": "BAD_SERVER_CREDENTIALS", "message": "no"})
BUSY = Reply(429, headers=(("Retry-After", "0"),))
NONE = Reply(200, manner=Manner.NEVER)


class Scripted:
    """Gives these answers, one after the other; the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def order(self) -> list[str | int]:
        """`register`, or the revision that a heartbeat has said."""
        return [
            "register" if one.path.endswith("register") else one.json()["routesRevision"]
            for one in self.asked
        ]


@asynccontextmanager
async def asking(
    service: Scripted, carried: list[Routes], said: list[str], fails: int = 0
) -> AsyncIterator[Control]:
    left = [fails]

    async def carry(routes: Routes) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise NotCarried("not now")
        carried.append(routes)

    server = HttpServer(service.answer)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        async with service_at(f"http://127.0.0.1:{server.port}") as upstream:
            it = Control(Service(upstream, IDENTITY), carry, lambda: 3, said.append)
            nursery.start_soon(it.run)
            yield it
            nursery.cancel_scope.cancel()


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "FIRST_PAUSE_SECONDS", 0.001)


CASES = {
    "all is well": ([REGISTERED, FIRST, SECOND], ["register", 0, 7]),
    "away at the start": ([Reply(503), BUSY, REGISTERED, FIRST, SECOND], ["register"] * 3 + [0, 7]),
    "away later": (
        [
            REGISTERED,
            FIRST,
            Reply(502),
            BUSY,
            Reply(200, manner=Manner.DROPPED),
            Reply(200, manner=Manner.CUT),
            SECOND,
        ],
        ["register", 0, 7, 7, 7, 7, 7],
    ),
    "something else": (
        [
            REGISTERED,
            FIRST,
            Reply(200, b"<html>", "text/html"),
            as_json(200, {}),
            Reply(302),
            Reply(404, b"{"),
            SECOND,
        ],
        ["register", 0, 7, 7, 7, 7, 7],
    ),
    "something that can hardly be read": (
        [
            REGISTERED,
            FIRST,
            Reply(200, b'{"routesRevision":8,"routes":[{"routeHost":"\xff"}]}', "application/json"),
            Reply(200, b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json"),
            Reply(404, b'{"code":"\xff","message":""}', "application/json"),
            SECOND,
        ],
        ["register", 0, 7, 7, 7, 7],
    ),
    "its secret has ended": (
        [REGISTERED, FIRST, REFUSED, REGISTERED, SECOND],
        ["register", 0, 7, "register", 0],
    ),
    "and the new one as well": (
        [REGISTERED, FIRST, REFUSED, REGISTERED, REFUSED, REFUSED, REGISTERED, SECOND],
        ["register", 0, 7, "register", 0, "register", "register", 0],
    ),
}


@pytest.mark.parametrize(("replies", "order"), CASES.values(), ids=CASES)
async def test_the_node_asks_again_as_each_answer_wants(replies: list[Reply], order: list[str | int]):
    service, carried, said = Scripted(*replies, NONE), [], []
    async with asking(service, carried, said) as it:

        async def is_carried() -> bool:
            return bool(carried) and carried[-1].revision == 8 and len(service.asked) > len(order)

        await wait_until(is_carried)
        assert it.is_online
    assert service.order() == [*order, 8]
    assert carried[-1].of("a.example.org") is None
    if len(carried) > 1:
        assert carried[0].of("a.example.org") == Route("a.example.org", "10.0.0.5", 25565)
    first, second = service.asked[0], service.asked[-1]
    assert msgspec.json.decode(first.body)["token"] == TOKEN
    assert msgspec.json.decode(second.body) == {"connections": 3, "routesRevision": 8, "waitSeconds": 10}
    assert second.headers["authorization"] == f"Bearer {SECRET}"
    assert not any(secret in line for line in said for secret in (TOKEN, SECRET))


async def test_what_is_not_carried_is_not_confirmed():
    service, carried, said = Scripted(REGISTERED, FIRST, FIRST, FIRST, NONE), [], []
    async with asking(service, carried, said, fails=2) as it:

        async def is_confirmed() -> bool:
            return len(service.asked) > 4

        await wait_until(is_confirmed)
        assert it.is_online
    assert service.order() == ["register", 0, 0, 0, 7]
    assert len([line for line in said if line.startswith("not now")]) == 1, "it is said once"
