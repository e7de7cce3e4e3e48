"""A DNS server that is silent about one name: its lookups hold up neither those of other names, nor anything else."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import trio
import trio.testing

from routes.edge.lookups import AT_ONCE, Lookups
from tests.support.waiting import patience, wait_until
from tests.support.world import open_world

SILENT = "silent.partyline.test"
"""A name about which DNS says nothing."""

ASKED = 100
"""More lookups than trio has threads for everything."""


class Dns:
    """The system's lookups, with one name for which they take until the end of the test."""

    def __init__(self) -> None:
        self.asked = 0
        self.end = Event()
        self._look_up = socket.getaddrinfo

    def __call__(self, host: Any, *args: Any, **options: Any) -> Any:
        if host == SILENT.encode():
            self.asked += 1
            self.end.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return self._look_up(host, *args, **options)


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dns]:
    dns = Dns()
    monkeypatch.setattr(socket, "getaddrinfo", dns)
    yield dns
    dns.end.set()


async def ask_many(dns: Dns) -> None:
    """Look the silent name up many times at once, and give up."""

    async def are_asked() -> bool:
        return dns.asked >= AT_ONCE

    async with trio.open_nursery() as nursery:
        for _ in range(ASKED):
            nursery.start_soon(trio.socket.getaddrinfo, SILENT, 80)
        await trio.testing.wait_all_tasks_blocked()
        await wait_until(are_asked)
        nursery.cancel_scope.cancel()


async def test_a_name_that_is_silent_holds_up_no_other(dns: Dns) -> None:
    lookups = Lookups()
    lookups.use()
    await ask_many(dns)
    assert dns.asked == AT_ONCE
    with patience():
        assert await trio.socket.getaddrinfo("localhost", 80)
        await trio.to_thread.run_sync(len, "")
    assert len(lookups) == 2
    dns.end.set()

    async def is_forgotten() -> bool:
        with patience():
            await trio.socket.getaddrinfo("localhost", 80)
        return len(lookups) == 1

    await wait_until(is_forgotten)


async def test_a_service_looks_up_so(database_url: str, tmp_path: Path, dns: Dns) -> None:
    async with open_world(database_url, tmp_path):
        try:
            await ask_many(dns)
            with patience():
                await trio.to_thread.run_sync(len, "")
        finally:
            dns.end.set()
