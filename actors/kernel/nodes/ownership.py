"""The shards of a node: it takes those that it should own and nobody alive does, and gives away those that others
should. By that it comes among the others, and leaves them.

    JOINING    owns nothing, until all that were there before it are heard (`membership.py`)
    UP         owns its share
    LEAVING    gives away what it owns; ends with the process, or when a node that was drained is resumed

What each node should own is said by `shares.py`; `giving.py` gives away.
"""

from collections.abc import Awaitable, Callable, Collection
from functools import partial

import structlog
import trio

from actors.kernel.nodes.giving import Giving, PartWith
from actors.kernel.nodes.membership import Membership
from actors.kernel.nodes.shares import wanted
from actors.kernel.store import Members, Store
from persistence.errors import NodeEnded, PersistenceError
from persistence.nodes import members as stored_members
from persistence.nodes.members import State

_log = structlog.get_logger()

QUIET_SECONDS = 2.0
"""Nothing is given away so soon after a node has come or gone."""

RETRY_SECONDS = 0.1
"""Pause while a node that leaves waits for others to take what it could not give yet."""


class Ownership:
    """What this node owns.

    Args:
        store: the database.
        membership: this node among others, with its links.
        rows: the functions that read and write the rows of nodes (`persistence.nodes.members`).

    Attributes:
        drained: called when an operator has drained this node.
    """

    def __init__(self, store: Store, membership: Membership, *, rows: Members = stored_members) -> None:
        self.drained: Callable[[], None] = _unheard
        self._store = store
        self._membership = membership
        self._rows = rows
        self._giving = Giving(store, rows, membership.where, membership.peers)
        self._is_ending = False

    async def rise(self, part_with: PartWith, spawn: Callable[[Callable[[], Awaitable[None]]], None]) -> None:
        """Be UP from now on, and take shards that nobody owns; returns once those are taken. Cancellation may leave
        them taken.

        Args:
            part_with: has the owners in given shards leave memory.
            spawn: starts a task that runs until the node ends.

        Raises:
            PersistenceError: the database cannot be asked.
        """
        self._membership.state = State.UP
        await self._membership.renew()
        await self._take_free()
        spawn(partial(self._keep_share, part_with))

    async def step_down(self, part_with: PartWith) -> None:
        """Give all shards of this node to others, as far as there are others.

        Cancellation ends it midway: shards that were not given are free once the row has run out or was removed.

        Args:
            part_with: has the owners in given shards leave memory.
        """
        membership = self._membership
        self._is_ending, membership.state = True, State.LEAVING
        while membership.where.fences:
            try:
                await membership.renew()
                if not any(node in membership.peers.names for node in membership.up()):
                    return
                if not await self._giving.give_some(membership.up(), part_with):
                    await trio.sleep(RETRY_SECONDS)
            except PersistenceError as failure:
                _log.warning("shards_not_given", node=membership.life.node, why=type(failure).__name__)
                return

    async def _keep_share(self, part_with: PartWith) -> None:
        """Take what nobody alive owns and this node should, and give away what another should. Until cancelled."""
        membership = self._membership
        while True:
            await membership.wait_renewed()
            if self._is_ending:
                continue
            self._obey()
            try:
                if membership.state is State.UP:
                    await self._take_free()
                if trio.current_time() - membership.moved_at >= QUIET_SECONDS:
                    while await self._giving.give_some(membership.up(), part_with):
                        pass
            except NodeEnded:
                raise
            except PersistenceError as failure:
                _log.warning("shards_not_settled", node=membership.life.node, why=type(failure).__name__)

    def _obey(self) -> None:
        """Become LEAVING or UP, as an operator wishes; where no other node would serve, draining has to wait."""
        membership, own_name = self._membership, self._membership.life.node
        others = any(
            member.state is State.UP and not member.is_over and node != own_name
            for node, member in membership.members.items()
        )
        own = membership.members.get(own_name)
        wanted_state = State.LEAVING if own is not None and own.is_drained and others else State.UP
        if wanted_state is membership.state:
            return
        membership.state = wanted_state
        _log.info("node_drained" if wanted_state is State.LEAVING else "node_resumed", node=own_name)
        if wanted_state is State.LEAVING:
            self.drained()

    async def _take_free(self) -> None:
        membership, own = self._membership, self._membership.life
        living = {node for node, member in membership.members.items() if not member.is_over} | {own.node}
        if self._may_renew_yet(membership.members.keys() - living):
            return
        due = wanted([node for node in membership.up() if node in living], own.node)
        free = [shard for shard in due if membership.where.owner(shard) not in living]
        if not free and len(living) == len(membership.members):
            return
        taken = await self._store.transact(self._rows.take, own.node, own.number, free)
        if taken is None:
            raise NodeEnded(f"node {own.node} was silent for too long, and others have taken its place")
        if taken:
            _log.info("shards_taken", node=own.node, shards=len(taken))
            self._giving.tell_owned(own.node, taken)

    def _may_renew_yet(self, over: Collection[str]) -> bool:
        """Whether nodes whose rows have run out may live all the same (`renewals.py`). Not who is silent on a bus, too,
        that carries what others say.
        """
        membership = self._membership
        if not over or membership.renewals.are_sound:
            return False
        others = membership.members.keys() - over - {membership.life.node}
        return any(map(membership.peers.hears, over)) or not any(map(membership.peers.hears, others))


def _unheard() -> None:
    """The default of `drained`: does nothing."""
