"""Bounds of our server: how many connect, how slow they may be, how it stops."""

import gc
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
import trio
import trio.testing
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from routes.edge.server.server import CannotListen, ServerSettings, serve
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application
from tests.edge.raw import Raw, alive, raw
from tests.support.server import on_free_port, running
from tests.support.waiting import patience
from tests.support.websocket import Refused, connect

REQUEST = b"GET /x HTTP/1.1\r\nHost: t\r\n\r\n"


async def hold(_socket: LiveSocket) -> None:
    """Keeps a socket open until its client goes."""


async def test_connections_per_address() -> None:
    settings = ServerSettings(max_per_address=2)
    async with running(Application(), settings=settings) as base_url:
        async with raw(base_url) as first, raw(base_url) as second, raw(base_url) as third:
            for connection in (first, second):
                await connection.send(REQUEST)
                assert (await connection.read_response())[0] == 200
            status, headers, body = await third.read_response()
            assert (status, headers["retry-after"], headers["connection"]) == (429, "5", "close")
            assert json.loads(body)["code"] == "RATE_LIMITED"
            assert json.loads(body)["requestId"] == headers["x-request-id"]
        # Who has gone is not counted any more.
        await trio.testing.wait_all_tasks_blocked()
        assert await alive(base_url)


async def test_connections_of_a_trusted_proxy_are_not_counted() -> None:
    settings = ServerSettings(max_per_address=1, trusted=lambda address: address == "127.0.0.1")
    async with running(Application(), settings=settings) as base_url, raw(base_url), raw(base_url):
        assert await alive(base_url)


async def test_connections_in_all() -> None:
    settings = ServerSettings(max_connections=2, max_per_address=None)
    app = Application()
    async with running(app, settings=settings) as base_url, raw(base_url) as silent, raw(base_url) as busy:
        await busy.send(REQUEST.replace(b"/x", b"/later"))
        await app.arrived.wait()
        async with raw(base_url) as one_more:
            status, headers, body = await one_more.read_response()
            assert (status, headers["retry-after"]) == (503, "1")
            assert json.loads(body)["code"] == "OVERLOADED"
        app.go.set()
        await silent.send(REQUEST)
        for connection in (busy, silent):
            assert (await connection.read_response())[0] == 200


async def test_who_has_rested_longest_gives_way_where_all_room_is_taken() -> None:
    """Not who has asked again since, and nobody who has begun to ask."""
    settings = ServerSettings(max_connections=3, max_per_address=None)
    async with running(Application(), settings=settings) as base_url, AsyncExitStack() as open_ones:

        async def answered(connection: Raw | None = None) -> Raw:
            connection = connection or await open_ones.enter_async_context(raw(base_url))
            await connection.send(REQUEST)
            assert (await connection.read_response())[0] == 200
            return connection

        again, asking, resting = await answered(), await answered(), await answered()
        await asking.send(REQUEST[:9])
        await answered(again)
        new = await answered()
        assert await resting.read_to_end() == b""
        newer = await answered()
        assert await again.read_to_end() == b""
        await asking.send(REQUEST[9:])
        assert (await asking.read_response())[0] == 200
        for connection in (new, newer, asking):
            await answered(connection)


async def test_who_is_refused_for_its_address_has_nobody_closed() -> None:
    settings = ServerSettings(max_connections=1, max_per_address=1)
    async with running(Application(), settings=settings) as base_url, raw(base_url) as first:
        for _ in range(2):
            await first.send(REQUEST)
            assert (await first.read_response())[0] == 200
            async with raw(base_url) as second:
                assert (await second.read_response())[0] == 429


async def test_a_head_that_is_too_large() -> None:
    async with running(Application()) as base_url, raw(base_url) as connection:
        await connection.send(b"GET / HTTP/1.1\r\nHost: t\r\nX: " + b"x" * 20_000)
        status, headers, body = await connection.read_response()
        assert (status, headers["connection"]) == (431, "close")
        assert json.loads(body)["code"] == "PAYLOAD_TOO_LARGE"
        assert await connection.read_to_end() == b""


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ],
)
async def test_what_is_not_http(request_: bytes, status: int) -> None:
    async with running(Application()) as base_url:
        async with raw(base_url) as connection:
            await connection.send(request_ + b"\r\n\r\n")
            assert (await connection.read_response())[0] == status
        assert await alive(base_url)


async def test_a_broken_body_ends_the_request() -> None:
    async with running(Application()) as base_url:
        async with raw(base_url) as connection:
            await connection.send(
                b"POST /x HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense\r\n"
            )
            assert (await connection.read_response())[0] == 400
            assert await connection.read_to_end() == b""
        assert await alive(base_url)


@pytest.mark.parametrize(
    "unfinished",
    [b"", b"GET / HTTP/1.1\r\nHost: t\r\n", b"POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc"],
)
async def test_a_client_that_does_not_finish_is_told_and_closed(unfinished: bytes) -> None:
    settings = ServerSettings(head_seconds=0.05, body_seconds=0.05, sweep_seconds=0.02)
    async with running(Application(), settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(unfinished)
        status, _, body = await connection.read_response()
        assert (status, json.loads(body)["code"]) == (408, "REQUEST_TIMEOUT")
        assert await connection.read_to_end() == b""


async def test_an_idle_connection_is_closed_without_a_word() -> None:
    settings = ServerSettings(keep_alive_seconds=0.05, sweep_seconds=0.02)
    async with running(Application(), settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(REQUEST)
        await connection.read_response()
        assert await connection.read_to_end() == b""


async def test_the_application_may_take_its_time() -> None:
    """Deadlines are for clients: while the application works, none runs."""
    app = Application()
    settings = ServerSettings(head_seconds=0.5, body_seconds=0.5, keep_alive_seconds=0.5, sweep_seconds=0.01)
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(REQUEST.replace(b"/x", b"/later"))
        await app.arrived.wait()
        with trio.move_on_after(0.8):
            await connection.read_to_end()
            raise AssertionError("the connection was closed")
        app.go.set()
        assert (await connection.read_response())[0] == 200


@pytest.mark.parametrize(
    ("broken", "status"),
    [
        ({"sec-websocket-version": "8"}, 426),
        ({"sec-websocket-key": "c2hvcnQ="}, 400),
        ({"sec-websocket-key": "!"}, 400),
    ],
)
async def test_a_broken_handshake_is_refused_and_its_connection_closed(
    broken: dict[str, str], status: int, sockets: Sockets
) -> None:
    fields = {
        "host": "t",
        "upgrade": "websocket",
        "connection": "keep-alive, Upgrade",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
    } | broken
    lines = "".join(f"{name}: {text}\r\n" for name, text in fields.items())
    app = Application(handler=hold, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(f"GET /live HTTP/1.1\r\n{lines}\r\n".encode())
        answered, headers, body = await connection.read_response()
        assert answered == status
        assert json.loads(body)["status"] == status
        assert (headers.get("sec-websocket-version") == "13") is (status == 426)
        # RFC 9110 §15.5.22 and §7.8: which protocol it would be, and that it is for this connection.
        assert (headers.get("upgrade") == "websocket") is (status == 426)
        assert headers["connection"] == ("close, upgrade" if status == 426 else "close")
        assert await connection.read_to_end() == b""


async def test_a_refusal_of_the_application_ends_its_connection(sockets: Sockets) -> None:
    app = Application(handler=hold, sockets=sockets)
    async with running(app) as base_url:
        with pytest.raises(Refused) as refused:
            async with connect(base_url + "/refused"):
                pass
        assert refused.value.status == 401
        assert refused.value.problem == {}


async def test_stopping_finishes_what_is_in_flight(sockets: Sockets) -> None:
    """No new connection, idle ones end, the request in flight is answered, sockets go when drained."""
    app = Application(handler=hold, sockets=sockets)
    stop, bound = trio.Event(), []
    async with trio.open_nursery() as nursery:

        async def serving(*, task_status: trio.TaskStatus[None]) -> None:
            async def started(addresses: object) -> None:
                bound.extend(addresses)
                task_status.started()

            await serve(app, on_free_port(ServerSettings()), stop=stop, started=started)

        with patience():
            await nursery.start(serving)
            base_url = bound[0]
            async with raw(base_url) as busy, raw(base_url) as idle, connect(base_url + "/live") as live:
                await idle.send(REQUEST)
                await idle.read_response()
                await busy.send(REQUEST.replace(b"/x", b"/later"))
                await app.arrived.wait()
                stop.set()
                assert await idle.read_to_end() == b""
                with pytest.raises(OSError, match="all attempts"):
                    await alive(base_url)
                app.go.set()
                status, headers, _ = await busy.read_response()
                assert (status, headers["connection"]) == (200, "close")
                await sockets.drain(grace_seconds=0)
                assert (await live.wait_closed()).code == 4503


async def test_stopping_waits_for_nobody_who_is_idle() -> None:
    """Neither for one who was answered nor for one who has asked for nothing yet; each keeps its end open."""
    stop, bound = trio.Event(), []
    settings = ServerSettings(linger_seconds=1e9, drain_seconds=1e9)
    async with trio.open_nursery() as nursery, AsyncExitStack() as open_ones:

        async def serving(*, task_status: trio.TaskStatus[None]) -> None:
            async def started(addresses: Sequence[str]) -> None:
                bound.extend(addresses)
                task_status.started()

            with patience():
                await serve(Application(), on_free_port(settings), stop=stop, started=started)
            ended.set()

        ended = trio.Event()
        await nursery.start(serving)
        answered, silent = [await open_ones.enter_async_context(raw(bound[0])) for _ in range(2)]
        await answered.send(REQUEST)
        assert (await answered.read_response())[0] == 200
        stop.set()
        with patience():
            await ended.wait()
        assert [await one.read_to_end() for one in (answered, silent)] == [b"", b""]


async def test_stopping_answers_what_has_begun_to_arrive() -> None:
    """A request that is half there at the stop is waited for, and is the last."""
    stop, bound = trio.Event(), []
    async with trio.open_nursery() as nursery:
        started = trio.Event()

        async def serving() -> None:
            async def told(addresses: Sequence[str]) -> None:
                bound.extend(addresses)
                started.set()

            await serve(Application(), on_free_port(ServerSettings()), stop=stop, started=told)

        with patience():
            nursery.start_soon(serving)
            await started.wait()
            async with raw(bound[0]) as half, raw(bound[0]) as whole:
                await half.send(REQUEST)
                await half.read_response()
                await half.send(REQUEST[:20])
                await whole.send(REQUEST)  # may not even be accepted yet
                await trio.testing.wait_all_tasks_blocked()
                stop.set()
                await trio.testing.wait_all_tasks_blocked()
                await half.send(REQUEST[20:])
                status, headers, _ = await half.read_response()
                assert (status, headers["connection"]) == (200, "close")
                assert (await whole.read_response())[0] == 200


async def test_cancelling_leaves_no_socket_open(sockets: Sockets) -> None:
    """An unclosed socket is a ResourceWarning, which fails the run."""
    app = Application(handler=hold, sockets=sockets)
    async with trio.open_nursery() as nursery:
        started = trio.Event()
        bound: list[str] = []

        async def told(addresses: Sequence[str]) -> None:
            bound.extend(addresses)
            started.set()

        async def serving() -> None:
            await serve(app, on_free_port(ServerSettings()), stop=trio.Event(), started=told)

        nursery.start_soon(serving)
        with patience():
            await started.wait()
            async with raw(bound[0]) as idle, raw(bound[0]) as busy, connect(bound[0] + "/live"):
                await idle.send(REQUEST)
                await idle.read_response()
                app.arrived = trio.Event()
                await busy.send(REQUEST.replace(b"/x", b"/later"))
                await app.arrived.wait()
                nursery.cancel_scope.cancel()
    gc.collect()
    assert len(sockets) == 0


async def test_no_deadline_runs_while_we_do_not_read() -> None:
    """A large body that waits for the application: the client waits for us then."""
    app = Application()
    go = trio.Event()

    async def late(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "http":
            await go.wait()
        await app(scope, receive, send)

    settings = ServerSettings(body_seconds=0.5, body_bytes_per_second=1 << 30, sweep_seconds=0.01)
    async with (
        running(late, settings=settings) as base_url,
        raw(base_url) as connection,
        trio.open_nursery() as nursery,
    ):
        body = b"x" * 3_000_000
        head = b"POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body)
        nursery.start_soon(connection.send, head + body)
        with trio.move_on_after(0.8):
            await connection.read_response()
            raise AssertionError("the connection was closed")
        go.set()
        assert (await connection.read_response())[0] == 200


async def test_stopping_does_not_wait_for_ever(sockets: Sockets) -> None:
    app = Application(handler=hold, sockets=sockets)
    settings = ServerSettings(drain_seconds=0.1)
    async with (
        running(app, settings=settings) as base_url,
        connect(base_url + "/live"),
        raw(base_url) as busy,
    ):
        await busy.send(REQUEST.replace(b"/x", b"/later"))
        await trio.testing.wait_all_tasks_blocked()


async def test_an_address_that_is_taken_is_one_clear_line() -> None:
    async with running(Application()) as base_url:
        taken = base_url.removeprefix("http://")
        with pytest.raises(CannotListen, match=f"cannot listen on {taken}: Address already in use"):
            await serve(Application(), ServerSettings(bind=(taken,)), stop=trio.Event())
