"""How long bytes wait until the reactor reads them: what its metrics of requests do not show."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
import trio
from structlog.typing import EventDict
from trio.testing import MockClock, wait_all_tasks_blocked

from routes.edge.transport import lateness as lateness_module
from routes.edge.transport.lateness import KEPT_SECONDS, Lateness
from routes.edge.transport.reactor import BATCH, Reactor
from routes.edge.transport.settings import ServerSettings
from tests.edge.apps import Application
from tests.support.server import running
from tests.support.waiting import wait_until

HOGS = 2 * BATCH + 10
EACH_SECONDS = 0.125


class Hog:
    """A connection with bytes to read, which take a while.

    Args:
        sock: the socket that has them.
        clock: the time that passes meanwhile.
    """

    def __init__(self, sock: socket.socket, clock: MockClock) -> None:
        self._sock, self._clock = sock, clock

    def readable(self) -> None:
        self._sock.recv(16)
        self._clock.jump(EACH_SECONDS)

    def writable(self) -> None:
        raise AssertionError("it is watched for reading alone")


@contextmanager
def hogs(reactor: Reactor, clock: MockClock) -> Iterator[None]:
    """Connections that all have something to read."""
    pairs = [socket.socketpair() for _ in range(HOGS)]
    try:
        for ours, theirs in pairs:
            ours.setblocking(False)
            reactor.add(ours.fileno(), Hog(ours, clock))
            theirs.send(b"x")
        yield
    finally:
        for pair in pairs:
            for one in pair:
                one.close()


def _report(fault: BaseException) -> None:
    raise fault


async def test_what_waits_behind_others_is_late(mock_clock: MockClock) -> None:
    reactor, lateness = Reactor(_report), Lateness()
    assert lateness.seconds == 0.0
    with hogs(reactor, mock_clock):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lateness.run, reactor)
            await wait_all_tasks_blocked()
            nursery.start_soon(reactor.run)
            await wait_all_tasks_blocked()
            late_seconds = lateness.seconds
            assert late_seconds == pytest.approx(HOGS * EACH_SECONDS)
            for _ in range(int(KEPT_SECONDS)):
                mock_clock.jump(1)
                await wait_all_tasks_blocked()
                assert lateness.seconds == pytest.approx(late_seconds)
            mock_clock.jump(1)
            await wait_all_tasks_blocked()
            assert lateness.seconds == 0.0
            nursery.cancel_scope.cancel()


async def test_what_still_waits_is_late_already(mock_clock: MockClock) -> None:
    reactor, lateness = Reactor(_report), Lateness()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lateness.run, reactor)
        await wait_all_tasks_blocked()
        mock_clock.jump(7)
        assert lateness.seconds == 7.0
        nursery.start_soon(reactor.run)
        await wait_all_tasks_blocked()
        assert lateness.seconds == 7.0
        nursery.cancel_scope.cancel()
    assert lateness.seconds == 7.0


async def test_a_server_measures_it() -> None:
    lateness = Lateness()

    async def is_measured() -> bool:
        return lateness.seconds > 0

    async with running(Application(), settings=ServerSettings(lateness=lateness)):
        await wait_until(is_measured)


async def test_servers_of_one_process_measure_apart(
    faults: list[EventDict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lateness_module, "EVERY_SECONDS", 0.0)
    async with running(Application()) as one, running(Application()) as other, httpx2.AsyncClient() as http:
        for url in (one, other):
            assert (await http.post(url + "/x", content=b"1")).status_code == 200
    assert not faults


async def test_nothing_of_it_is_left(mock_clock: MockClock) -> None:
    """The next server measures with the same object."""
    lateness = Lateness()
    for _ in range(3):
        reactor = Reactor(_report)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lateness.run, reactor)
            nursery.start_soon(reactor.run)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert lateness.seconds == 0.0
