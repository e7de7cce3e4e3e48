"""The life of a node among others: it joins, renews its row each second, takes what it should own, gives away what
others should, and leaves.

    JOINING    linked, and told of everything; owns nothing. Ends when all that were there before it are heard
    UP         owns its share
    LEAVING    gives away what it owns; ends with the process, or when a node that was drained is resumed

Who owns what is decided by rows (`persistence/nodes/members.py`), what each should own by `shares.py`, who may go on by
`council.py`; `giving.py` gives away. A node that finds itself declared dead ends, and begins anew as a new process:
others own its shards by then, and its memory lacks what they have told each other meanwhile.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial

import structlog
import trio

from actors.kernel.nodes.council import Seat, Verdict, verdict
from actors.kernel.nodes.entries import Owns
from actors.kernel.nodes.giving import Giving, PartWith
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.shares import wanted
from actors.kernel.nodes.whereabouts import Whereabouts
from actors.kernel.store import Members, Store
from persistence.errors import NodeEnded, PersistenceError
from persistence.nodes import members as stored_members
from persistence.nodes.members import Lease, Member, Said, State, View

_log = structlog.get_logger()

ROW_SECONDS = 5.0
"""How long a node's row lasts: a node that is silent for so long is dead."""

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

MISSED_SECONDS = ROW_SECONDS / 2
"""A database that was away for less has cost no other node its row: each renews once more before that runs out."""

QUIET_SECONDS = 2.0
"""Nothing is given away so soon after a node has come or gone."""

RETRY_SECONDS = 0.1
"""Pause while a node that leaves waits for others to take what it could not give yet."""


class Membership:
    """This node, and all others as their rows show them.

    Args:
        store: the database.
        life: the life that this node has begun.
        sockets: returns how many live sockets are open here.
        rows: the functions that read and write the rows of nodes (`persistence.nodes.members`).
        now: the seconds by which this node's row runs out, which go on while the machine sleeps.

    Attributes:
        drained: called when an operator has drained this node.
    """

    _giving: Giving

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
        self.where = Whereabouts(
            life.node,
            lives=lambda node: node in self.members,
            hears=self._hears,
            is_sure=lambda: self.is_sure,
        )
        self._peers: Peers | None = None
        self._store = store
        self._rows = rows
        self._renewed = trio.Event()
        self._looked = trio.Event()
        self._now = now
        self._renewed_at = self._sound_since = now()
        self._database_seconds: float | None = None
        self._moved_at = trio.current_time()
        self._yields = 0
        self._judged_at = -RENEW_SECONDS
        self._failure: str | None = None
        self._is_ending = False
        self.drained: Callable[[], None] = _unheard

    def link(self, peers: Peers) -> None:
        """Be given the links to the other nodes; called once, before anything else."""
        self._peers = peers
        self._giving = Giving(self._store, self._rows, self.where, peers)
        peers.hear(Owns, self._hear_owns)

    @property
    def peers(self) -> Peers:
        """The links to all other nodes; raises RuntimeError before `link` was called, which is a defect."""
        if self._peers is None:
            raise RuntimeError("a node that was not linked")
        return self._peers

    @property
    def is_sure(self) -> bool:
        """Whether this node was a member so lately that nobody can have declared it dead."""
        return self._now() - self._renewed_at < ROW_SECONDS

    @property
    def is_oldest(self) -> bool:
        """Whether no other node that lives was there before this one."""
        return not any(
            member.life < self.life.number and not member.is_over for member in self.members.values()
        )

    @property
    def silent_seconds(self) -> float:
        """How long ago the row was renewed last."""
        return self._now() - self._renewed_at

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
        began_at = self._now()
        waiting = self.peers.links.waiting_bytes().values()
        heard = sorted(self.peers.links.heard_within(HEARD_SECONDS))
        said = Said(self.state, heard, self.sockets(), max(waiting, default=0))
        view = await self._store.transact(
            self._rows.renew, self.life.node, self.life.number, ROW_SECONDS, said
        )
        if view is None:
            raise NodeEnded(f"node {self.life.node} was silent for too long, and others have taken its place")
        # To the end of the renewal: a database that stands still lets rows run out like one that is away. So does one
        # whose clock was set forward.
        passed = self._now() - self._renewed_at
        if passed > MISSED_SECONDS or self._was_set(view.at_seconds, passed):
            self._sound_since = self._now()
        self._renewed_at, self._database_seconds = began_at, view.at_seconds
        self._take_in(view)
        self._judge()
        renewed, self._renewed = self._renewed, trio.Event()
        renewed.set()

    def _was_set(self, database_seconds: float, passed: float) -> bool:
        """Whether the database's clock has gone further since the last renewal than the seconds that have `passed`."""
        if self._database_seconds is None:
            return False  # the first renewal
        ahead = database_seconds - self._database_seconds - passed
        if ahead <= MISSED_SECONDS:
            return False
        _log.warning("database_clock_set", node=self.life.node, ahead_seconds=round(ahead))
        return True

    def _take_in(self, view: View) -> None:
        known, own = self.members, self.life.node
        self.members = view.members
        for node, member in view.members.items():
            if node != own:
                self.peers.meet(Life(node, member.life))
        for node in self.peers.names - view.members.keys():
            self.peers.part(node)
        if _seats(known) != _seats(view.members):
            self._moved_at = trio.current_time()
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
                await self._renewed.wait()
        return missing

    def _unheard(self) -> frozenset[str]:
        return frozenset(
            node
            for node, member in self.members.items()
            if member.life < self.life.number and not member.is_over and not self._hears(node)
        )

    async def rise(self, part_with: PartWith, spawn: Callable[[Callable[[], Awaitable[None]]], None]) -> None:
        """Be UP from now on, and take shards that nobody owns; returns once those are taken. Cancellation may leave
        them taken.

        Args:
            part_with: has the owners in given shards leave memory.
            spawn: starts a task that runs until the node ends.

        Raises:
            PersistenceError: the database cannot be asked.
        """
        self.state = State.UP
        await self.renew()
        await self._take_free()

        spawn(partial(self._keep_share, part_with))

    async def step_down(self, part_with: PartWith) -> None:
        """Give all shards of this node to others, as far as there are others.

        Cancellation ends it midway: shards that were not given are free once the row has run out or was removed.

        Args:
            part_with: has the owners in given shards leave memory.
        """
        self._is_ending, self.state = True, State.LEAVING
        while self.where.fences:
            try:
                await self.renew()
                if not any(node in self.peers.names for node in self._up()):
                    return
                if not await self._giving.give_some(self._up(), part_with):
                    await trio.sleep(RETRY_SECONDS)
            except PersistenceError as failure:
                _log.warning("shards_not_given", node=self.life.node, why=type(failure).__name__)
                return

    async def leave(self) -> None:
        """End this life, so that the shards it still owns are free. Cancellation may leave the row until it runs out.

        Raises:
            PersistenceError: the row may be left until it runs out.
        """
        await self._store.transact(self._rows.leave, self.life.node, self.life.number)

    # -- who owns what ------------------------------------------------------------------------------

    async def _keep_share(self, part_with: PartWith) -> None:
        """Take what nobody alive owns and this node should, and give away what another should. Until cancelled."""
        while True:
            await self._renewed.wait()
            if self._is_ending:
                continue
            self._obey()
            try:
                if self.state is State.UP:
                    await self._take_free()
                if trio.current_time() - self._moved_at >= QUIET_SECONDS:
                    while await self._giving.give_some(self._up(), part_with):
                        pass
            except NodeEnded:
                raise
            except PersistenceError as failure:
                _log.warning("shards_not_settled", node=self.life.node, why=type(failure).__name__)

    def _obey(self) -> None:
        """Become LEAVING or UP, as an operator wishes; where no other node would serve, draining has to wait."""
        others = any(
            member.state is State.UP and not member.is_over and node != self.life.node
            for node, member in self.members.items()
        )
        own = self.members.get(self.life.node)
        wanted_state = State.LEAVING if own is not None and own.is_drained and others else State.UP
        if wanted_state is self.state:
            return
        self.state = wanted_state
        _log.info("node_drained" if wanted_state is State.LEAVING else "node_resumed", node=self.life.node)
        if wanted_state is State.LEAVING:
            self.drained()

    def _up(self) -> list[str]:
        return [node for node, member in self.members.items() if member.state is State.UP]

    async def _take_free(self) -> None:
        living = {node for node, member in self.members.items() if not member.is_over} | {self.life.node}
        if self._may_renew_yet(self.members.keys() - living):
            return
        own = wanted([node for node in self._up() if node in living], self.life.node)
        free = [shard for shard in own if self.where.owner(shard) not in living]
        if not free and len(living) == len(self.members):
            return
        taken = await self._store.transact(self._rows.take, self.life.node, self.life.number, free)
        if taken is None:
            raise NodeEnded(f"node {self.life.node} was silent for too long, and others have taken its place")
        if taken:
            _log.info("shards_taken", node=self.life.node, shards=len(taken))
            self._giving.tell_owned(self.life.node, taken)

    def _may_renew_yet(self, over: Collection[str]) -> bool:
        """Whether nodes whose rows have run out may live all the same: where the database was away for all, or its
        clock was set forward, or all machines slept, whoever lives renews first. Not who is silent on a bus, too, that
        carries what others say.
        """
        if not over or self._now() - self._sound_since >= ROW_SECONDS:
            return False
        others = self.members.keys() - over - {self.life.node}
        return any(map(self._hears, over)) or not any(map(self._hears, others))


def _unheard() -> None:
    """The default of `drained`: does nothing."""


def _seats(members: Mapping[str, Member]) -> frozenset[tuple[str, int, State]]:
    return frozenset((one.node, one.life, one.state) for one in members.values())
