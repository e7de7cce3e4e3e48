"""A node's row while the database answers some renewals late or never."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
import trio

from actors.kernel.nodes.link import Life
from actors.kernel.nodes.membership import Membership
from actors.kernel.nodes.renewals import ROW_SECONDS
from persistence.errors import DatabaseUnavailable, NodeEnded
from tests.nodes.play import peers_of
from tests.simulation.cluster.member_rows import MemberRows
from tests.simulation.tables import Tables
from tests.support.bus import SimulatedBus

REQUEST_SECONDS = 5.0
"""After which the database gives a connection up, as it does for requests."""


class Store:
    """Answers, but on connections that have fallen silent.

    Attributes:
        silent: how many of the next connections are.
    """

    def __init__(self, tables: Tables) -> None:
        self.silent = 0
        self._tables = tables

    async def transact(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        await trio.lowlevel.checkpoint()
        if self.silent:
            self.silent -= 1
            await trio.sleep(REQUEST_SECONDS)
            raise DatabaseUnavailable("no answer in time")
        return await unit(self._tables, *args)


class Play:
    """One node, and another that declares it dead as soon as its row has run out."""

    def __init__(self, rows: MemberRows, store: Store) -> None:
        self.rows = rows
        self.store = store

    async def watch(self, seconds: float) -> bool:
        """Let time pass; returns whether the node has lived through it."""
        for _ in range(round(seconds * 10)):
            await trio.sleep(0.1)
            await self.rows.take(None, "other", 0, ())
        return "a" in self.rows.rows


@pytest.fixture
async def play() -> AsyncIterator[Play]:
    tables = Tables(trio.current_time)
    rows, store = MemberRows(tables), Store(tables)
    life = Life("a", await rows.join(None, "a", ROW_SECONDS))
    membership = Membership(store, life, rows=rows)  # type: ignore[arg-type]
    membership.link(peers_of(life, SimulatedBus(Random(0)).end("a")))

    async def keep() -> None:
        with suppress(NodeEnded):
            await membership.keep()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep)
        await trio.sleep(3)
        yield Play(rows, store)
        nursery.cancel_scope.cancel()


async def test_a_connection_that_falls_silent_costs_no_node_its_row(
    autojump_clock: object, play: Play
) -> None:
    """The next renewal takes another connection, before the row runs out."""
    play.store.silent = 1
    assert await play.watch(20)


async def test_a_node_that_is_not_answered_at_all_is_declared_dead(
    autojump_clock: object, play: Play
) -> None:
    play.store.silent = 1_000
    assert not await play.watch(6)


async def test_a_node_that_has_slept_is_not_sure_until_it_has_renewed(autojump_clock: object) -> None:
    """trio's time stands still while the machine sleeps; others have long taken what the node owned."""
    tables, slept = Tables(trio.current_time), 0.0
    rows = MemberRows(tables)
    life = Life("a", await rows.join(None, "a", ROW_SECONDS))
    membership = Membership(
        Store(tables),  # type: ignore[arg-type]
        life,
        rows=rows,
        now=lambda: trio.current_time() + slept,
    )
    membership.link(peers_of(life, SimulatedBus(Random(0)).end("a")))
    await membership.renew()
    assert membership.where.is_sure()
    slept = ROW_SECONDS
    assert not membership.where.is_sure()
    await membership.renew()
    assert membership.where.is_sure()


async def test_who_comes_when_a_node_has_slept_waits_until_it_has_renewed(autojump_clock: object) -> None:
    tables, slept = Tables(trio.current_time), 0.0
    rows, store = MemberRows(tables), Store(tables)
    life = Life("a", await rows.join(None, "a", ROW_SECONDS))
    membership = Membership(
        store,  # type: ignore[arg-type]
        life,
        rows=rows,
        now=lambda: trio.current_time() + slept,
    )
    membership.link(peers_of(life, SimulatedBus(Random(0)).end("a")))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(membership.keep)
        await trio.sleep(3.5)
        slept = ROW_SECONDS
        assert await membership.where.wait_sure()
        slept, store.silent = 2 * ROW_SECONDS, 1_000
        assert not await membership.where.wait_sure()  # the database is away
        nursery.cancel_scope.cancel()
