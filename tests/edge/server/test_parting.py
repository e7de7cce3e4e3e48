"""A server that is one of several: it listens on a socket of somebody else, and says that it goes before it does."""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from routes.edge.server.server import CannotListen, ServerSettings, serve
from tests.edge.apps import Application
from tests.edge.raw import raw
from tests.support.waiting import patience

REQUEST = b"GET /x HTTP/1.1\r\nHost: t\r\n\r\n"


@asynccontextmanager
async def _serving(listening: socket.socket, parting: trio.Event) -> AsyncIterator[str]:
    """A server on a copy of the socket, stopped at the end of the block; its address."""
    stop = trio.Event()

    async def run(*, task_status: trio.TaskStatus[str]) -> None:
        async def started(addresses: Sequence[str]) -> None:
            task_status.started(addresses[0])

        settings = ServerSettings(bind=(f"fd://{socket.dup(listening.fileno())}",))
        await serve(Application(), settings, stop=stop, parting=parting, started=started)

    with patience():
        async with trio.open_nursery() as nursery:
            yield await nursery.start(run)
            stop.set()


async def test_while_it_parts_each_response_is_the_last_and_new_ones_are_answered() -> None:
    parting = trio.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with _serving(listening, parting) as url, raw(url) as busy:
            await busy.send(REQUEST)
            assert "connection" not in (await busy.read_response())[1]
            parting.set()
            await trio.testing.wait_all_tasks_blocked()
            async with raw(url) as late:
                for connection in (busy, late):
                    await connection.send(REQUEST)
                    status, headers, _ = await connection.read_response()
                    assert (status, headers["connection"]) == (200, "close")
                    assert await connection.read_to_end() == b""


async def test_who_connects_between_two_servers_is_answered_by_the_second() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with _serving(listening, trio.Event()) as url:
            pass
        async with raw(url) as between:
            await between.send(REQUEST)
            async with _serving(listening, trio.Event()) as again:
                assert again == url
                assert (await between.read_response())[0] == 200


async def test_a_descriptor_that_is_none_is_one_clear_line() -> None:
    with pytest.raises(CannotListen, match=r"^cannot listen on fd://1000000: Bad file descriptor$"):
        await serve(Application(), ServerSettings(bind=("fd://1000000",)), stop=trio.Event())
