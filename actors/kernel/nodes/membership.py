"""A node among others: it joins, and renews its row each second, by which it sees the others as their rows show them.

Who owns what is decided by rows as well (`persistence/nodes/members.py`), who may go on by `council.py`; what this node
owns is kept by `ownership.py`, which also says when it is UP, and when it is LEAVING. A node that finds itself declared
dead ends, and begins anew as a new process: others own its shards by then, and its memory lacks what they have told
each other meanwhile.
"""

from collections.abc import Callable, Mapping

import structlog
import trio

from actors.kernel.nodes.council import Seat, Verdict, verdict
from actors.kernel.nodes.entries import Owns
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.renewals import ROW_SECONDS, Renewals
from actors.kernel.nodes.whereabouts import Whereabouts
from actors.kernel.store import Members, Store
from persistence.errors import NodeEnded, PersistenceError
from persistence.nodes import members as stored_members
from persistence.nodes.members import Lease, Member, Said, State, View

_log = structlog.get_logger()

RENEW_SECONDS = 1.0
"""How often the row is renewed: four renewals may fail before it runs out."""

WATCH_SECONDS = 0.2
"""How often the row is renewed while another node is about to die or to yield, so that its end is seen sooner."""

ANSWER_SECONDS = 2.0
"""How long a renewal is waited for, however long a request may take: one whose connection has fallen silent leaves time
for another, over another connection, before the row runs out."""

HEARD_SECONDS = 3.0
"""A node that was silent for so long on the bus is not among those that are heard."""

YIELD_ROUNDS = 3
"""Renewals in a row, about a second apart, that say a node should yield, before it does: who has just come is not heard
at once."""


class Membership:
    """This node, and all others as their rows show them.

    Args:
        store: the database.
        life: the life that this node has begun.
        sockets: returns how many live sockets are open here.
        rows: the functions that read and write the rows of nodes (`persistence.nodes.members`).
        now: the seconds by which this node's row runs out, which go on while the machine sleeps.

    Attributes:
        state: what this node's row says from the next renewal on; `Ownership` moves it.
        moved_at: when a node has come or gone last, by trio's clock.
        renewals: when this node's row was renewed.
    """

    def __init__(
        self,
        store: Store,
        life: Life,
        *,
        sockets: Callable[[], int] = lambda: 0,
        rows: Members = stored_members,
        now: Callable[[], float] = trio.current_time,
    ) -> None:
        self.life = life
        self.state = State.JOINING
        self.members: Mapping[str, Member] = {}
        self.sockets = sockets
        self.renewals = Renewals(life.node, now)
        self.where = Whereabouts(
            life.node,
            lives=lambda node: node in self.members,
            hears=self._hears,
            is_sure=self.renewals.is_sure,
        )
        self._peers: Peers | None = None
        self._store = store
        self._rows = rows
        self._renewed = trio.Event()
        self.moved_at = trio.current_time()
        self._yields = 0
        self._judged_at = -RENEW_SECONDS
        self._failure: str | None = None

    def link(self, peers: Peers) -> None:
        """Be given the links to the other nodes; called once, before anything else."""
        self._peers = peers
        peers.hear(Owns, self._hear_owns)

    @property
    def peers(self) -> Peers:
        """The links to all other nodes; raises RuntimeError before `link` was called, which is a defect."""
        if self._peers is None:
            raise RuntimeError("a node that was not linked")
        return self._peers

    @property
    def is_oldest(self) -> bool:
        """Whether no other node that lives was there before this one."""
        return not any(
            member.life < self.life.number and not member.is_over for member in self.members.values()
        )

    def up(self) -> list[str]:
        """The names of the nodes that are to own shards."""
        return [node for node, member in self.members.items() if member.state is State.UP]

    def failed(self, why: str) -> None:
        """Have the node end, because it cannot serve rightly any more: `keep` raises NodeEnded.

        Args:
            why: the reason in one line, for the log and the exception.
        """
        _log.error("node_failed", node=self.life.node, why=why)
        self._failure = why

    def _hears(self, node: str) -> bool:
        return self._peers is not None and self._peers.hears(node)

    # -- rows ---------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Renew this node's row until cancelled.

        Raises:
            NodeEnded: the others have declared this node dead, or go on without it; or `failed` was called.
        """
        while True:
            with trio.move_on_after(ANSWER_SECONDS) as waiting:
                try:
                    await self.renew()
                except NodeEnded:
                    raise
                except PersistenceError as failure:
                    _log.warning("node_not_renewed", node=self.life.node, why=type(failure).__name__)
            if waiting.cancelled_caught:
                _log.warning("node_not_renewed", node=self.life.node, why="no answer")
            if self._yields >= YIELD_ROUNDS:
                self.failed(f"node {self.life.node} does not reach the others, which reach each other")
            if self._failure is not None:
                raise NodeEnded(self._failure)
            is_hurried = waiting.cancelled_caught or self._is_one_going()
            await trio.sleep(WATCH_SECONDS if is_hurried else RENEW_SECONDS)

    def _is_one_going(self) -> bool:
        """Whether another node has missed renewals, or is silent on a bus that carries what others say."""
        others = [one for node, one in self.members.items() if node != self.life.node]
        heard = sum(self._hears(one.node) for one in others)
        return any(one.is_quiet for one in others) or 0 < heard < len(others)

    async def renew(self) -> None:
        """Renew this node's row, and take in all others. Cancellation may leave the row renewed.

        Raises:
            NodeEnded: the others have declared this node dead.
            PersistenceError: the database cannot be asked.
        """
        began_at = self.renewals.begin()
        waiting = self.peers.links.waiting_bytes().values()
        heard = sorted(self.peers.links.heard_within(HEARD_SECONDS))
        said = Said(self.state, heard, self.sockets(), max(waiting, default=0))
        view = await self._store.transact(
            self._rows.renew, self.life.node, self.life.number, ROW_SECONDS, said
        )
        if view is None:
            raise NodeEnded(f"node {self.life.node} was silent for too long, and others have taken its place")
        self.renewals.end(began_at, view.at_seconds)
        self._take_in(view)
        self._judge()
        renewed, self._renewed = self._renewed, trio.Event()
        renewed.set()

    async def wait_renewed(self) -> None:
        """Wait until the row is renewed, and all others are taken in. Cancellation ends only the wait."""
        await self._renewed.wait()

    def _take_in(self, view: View) -> None:
        known, own = self.members, self.life.node
        self.members = view.members
        for node, member in view.members.items():
            if node != own:
                self.peers.meet(Life(node, member.life))
        for node in self.peers.names - view.members.keys():
            self.peers.part(node)
        if _seats(known) != _seats(view.members):
            self.moved_at = trio.current_time()
        self.where.learn(view.leases)
        self.where.changed()

    def _judge(self) -> None:
        # Whoever does not renew is about to die, and goes on with nobody; who is only cut from the bus does renew.
        seats = [
            Seat(one.node, one.life, one.heard)
            for one in self.members.values()
            if one.state is State.UP and not one.is_quiet
        ]
        if self.state is not State.UP or verdict(seats, self.life.node) is not Verdict.YIELD:
            self._yields = 0
        elif trio.current_time() - self._judged_at > 0.8 * RENEW_SECONDS:
            self._yields += 1
            self._judged_at = trio.current_time()

    def _hear_owns(self, _node: str, entry: Owns) -> None:
        self.where.learn({shard: Lease(entry.node, fence) for shard, fence in entry.fences.items()})

    # -- coming and going ---------------------------------------------------------------------------

    async def wait_heard(self, seconds: float) -> frozenset[str]:
        """Wait until every node that was there before this one is heard; returns the names of those that are not.

        From then on they tell this node everything. Cancellation ends the wait.

        Args:
            seconds: how long to wait at most.
        """
        with trio.move_on_after(seconds):
            while missing := self._unheard():
                await self.wait_renewed()
        return missing

    def _unheard(self) -> frozenset[str]:
        return frozenset(
            node
            for node, member in self.members.items()
            if member.life < self.life.number and not member.is_over and not self._hears(node)
        )

    async def leave(self) -> None:
        """End this life, so that the shards it still owns are free. Cancellation may leave the row until it runs out.

        Raises:
            PersistenceError: the row may be left until it runs out.
        """
        await self._store.transact(self._rows.leave, self.life.node, self.life.number)


def _seats(members: Mapping[str, Member]) -> frozenset[tuple[str, int, State]]:
    return frozenset((one.node, one.life, one.state) for one in members.values())
