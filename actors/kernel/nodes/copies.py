"""The copies of this node: owners of other nodes that somebody here watches.

A copy asks the node that owns it to tell of it, reads rows, and follows from then on (`copy.py`). Whoever subscribes
waits for an answer of the owner's node that is younger than the wish: all turns before it are in the copy by then, so
that the owner's present state says what they may see. When an owner moves, or its node dies, its copies ask the next
one, a few at a time; only those that stand elsewhere than it does read anything (`refreshing.py`).

The channel of an owner that leaves this node goes on as that of a copy, and the other way round, so its subscribers
stay. Where an owner comes to this node without being loaded, its copy stays until it is: its rows change no more.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec
import trio

from actors.errors import Overloaded
from actors.kernel.actor import Actor
from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Failure
from actors.kernel.nodes.copy import Copy, Phase
from actors.kernel.nodes.entries import Dropped, Follow, Following, Stands, Turned, Unfollow
from actors.kernel.nodes.followed import Key
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.refreshing import Refreshing
from actors.kernel.nodes.whereabouts import Whereabouts
from actors.kernel.one_shot import OneShot
from actors.kernel.runtime import Runtime
from persistence.nodes.shards import shard_of

COPIES = 50_000
"""Most copies of a node; whoever wants one more is refused, unless one is not watched."""

TICK_SECONDS = 0.05
"""How often copies try again that could not ask, or had to wait before asking."""

ASKS_A_TICK = 100
"""Most copies that ask in one tick: when a node dies, thousands have a new owner at once."""

AGAIN_SECONDS = 0.5
"""Pause before a copy asks again whose question was not answered, or not taken."""

OUTDATED_SECONDS = 1.0
"""Least time between two renewals of a copy whose rows are changed otherwise than by turns, as an import does often."""

LOOK_SECONDS = 2.0
"""How often rows are looked at for copies whose owner's node is not heard, and for copies that nobody watches."""


class Copies:
    """All copies of this node.

    Args:
        runtime: what copies share with the actors of the system.
        where: which node owns which shard.
        peers: the other nodes.
    """

    def __init__(self, runtime: Runtime, where: Whereabouts, peers: Peers) -> None:
        self._runtime = runtime
        self._where = where
        self._peers = peers
        self._copies: dict[Key, Copy] = {}
        self._decoders: dict[str, Callable[[bytes], Any]] = {}  # by the name of the kind
        # those that are to ask, {key: not before this time}
        self._due: dict[Key, float] = {}
        self._numbers = peers.links.own.numbers()
        self._refreshing = Refreshing(
            runtime, still=self._is_held, done=self._renewed, failed=self._not_renewed
        )
        self.renewals = 0
        """How often a copy was renewed: a turn was missing, the owner had moved, or rows were changed otherwise."""
        peers.hear(Following, self._hear_following)
        peers.hear(Turned, self._hear_turned)
        peers.hear(Stands, self._hear_stands)
        peers.hear(Dropped, lambda node, _: self._let_go(node))
        peers.on_parted(self._let_go)
        where.on_moved(self._moved)

    def __len__(self) -> int:
        return len(self._copies)

    def __iter__(self) -> Iterator[Copy]:
        return iter(self._copies.values())

    @property
    def unsure(self) -> int:
        """How many copies are not known to have their owner's present state."""
        return sum(copy.phase is not Phase.WHOLE for copy in self._copies.values())

    # -- who watches --------------------------------------------------------------------------------

    async def current(self, kind: Kind[Any, Any], id: str) -> Channel | None:
        """The channel of an owner elsewhere, with a state that is no older than this call.

        Returns None when the owner has come here meanwhile, or has moved again. Cancellation ends only the wait.

        Args:
            kind, id: which owner.

        Raises:
            NotFound: there is no such owner.
            Overloaded: there are too many copies.
            PersistenceError: the owner's rows cannot be read.
            Fault: our own code failed on these rows.
        """
        copy = self._copies.get((kind.name, id)) or self._open(kind, id)
        waiter: OneShot[Failure | None] = OneShot()
        entry = (copy.asked + 1, waiter)
        copy.waiters.append(entry)
        self._ask(copy, trio.current_time())
        try:
            failure = await waiter.wait()
        finally:
            if entry in copy.waiters:
                copy.waiters.remove(entry)
            if not copy.is_watched:
                copy.unwatched()
        if failure is not None:
            raise failure
        held = self._is_held(copy) and copy.phase is Phase.WHOLE
        return copy.channel if held else None

    def _open(self, kind: Kind[Any, Any], id: str) -> Copy:
        if len(self._copies) >= COPIES:
            self._close_unwatched(trio.current_time())
            if len(self._copies) >= COPIES:
                raise Overloaded
        runtime = self._runtime

        def open_channel(copy: Copy) -> Channel:
            return Channel(kind, id, runtime, copy)

        copy = Copy(kind, id, shard_of(kind.name, id), open_channel, self._decoder(kind))
        self._copies[kind.name, id] = copy
        return copy

    def _decoder(self, kind: Kind[Any, Any]) -> Callable[[bytes], Any]:
        """What decodes the events of a kind: one for all copies, of which each would hold 180 bytes otherwise."""
        decode = self._decoders.get(kind.name)
        if decode is None:
            decode = self._decoders[kind.name] = msgspec.msgpack.Decoder(kind.events).decode
        return decode

    def adopt(self, actor: Actor) -> None:
        """Take over the subscribers of an owner that leaves this node, if it has any."""
        channel, activation = actor.channel, actor.activation
        if channel is None or not len(channel):
            return

        def take_channel(copy: Copy) -> Channel:
            channel.belong_to(copy)
            return channel

        kind = actor.kind
        copy = Copy(kind, actor.id, shard_of(kind.name, actor.id), take_channel, self._decoder(kind))
        if activation is not None:
            copy.version = activation.version
        if actor.shows_outdated:
            copy.changes += 1
        actor.part_with_channel()
        self._copies[actor.kind.name, actor.id] = copy
        self._renew(copy)

    def hand_over(self, actor: Actor) -> None:
        """Hand the subscribers of a copy over to its owner, which is about to be loaded here."""
        copy = self._copies.pop((actor.kind.name, actor.id), None)
        if copy is not None:
            copy.begin_anew()
            actor.take_channel(copy.channel, copy.version, is_outdated=copy.is_outdated)
            copy.wake(None)

    # -- asking -------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Ask for copies that are due, look at rows for those whose owner is silent, and close those that nobody
        watches; until cancelled."""
        looked_at = trio.current_time()
        while True:
            await trio.sleep(TICK_SECONDS)
            now = trio.current_time()
            due = [key for key, at in self._due.items() if at <= now][:ASKS_A_TICK]
            for key in due:
                del self._due[key]
                copy = self._copies.get(key)
                if copy is not None:
                    self._ask(copy, now)
            if now - looked_at >= LOOK_SECONDS:
                looked_at = now
                self._close_unwatched(now - self._runtime.idle_ms / 1000)
                self._look_for_silent()

    def _ask(self, copy: Copy, now: float) -> None:
        """Ask the owner's node for its turns; where that is this node, its rows say all."""
        copy.asked = next(self._numbers)
        kind_name, id = copy.kind.name, copy.id
        if self._where.is_here(kind_name, id):
            copy.asked_of = None
            self._read(copy)
            copy.wake(None)
            return
        place = self._where.elsewhere(kind_name, id)
        if place is not None and self._peers.call(place.node, Follow(copy.asked, kind_name, id, place.fence)):
            copy.asked_of = place.node
        else:
            self._due[kind_name, id] = now + AGAIN_SECONDS

    def _renew(self, copy: Copy) -> None:
        """Have a copy ask again."""
        self.renewals += 1
        copy.begin_anew()
        self._due[copy.kind.name, copy.id] = trio.current_time()

    def _moved(self, shards: Collection[int]) -> None:
        moved = set(shards)
        for copy in self._copies.values():
            if copy.shard in moved:
                self._renew(copy)

    def _let_go(self, node: str) -> None:
        """Renew the copies that followed owners of a node that has stopped sending their turns."""
        for copy in self._copies.values():
            if copy.asked_of == node:
                self._renew(copy)

    def _look_for_silent(self) -> None:
        for copy in self._copies.values():
            silent = copy.asked_of is not None and not self._peers.hears(copy.asked_of)
            if silent and len(copy.channel) and copy.phase is Phase.WHOLE:
                self._read(copy)

    def _close_unwatched(self, upto: float) -> None:
        """Close copies that nobody has watched since a moment on trio's clock, or before."""
        for key, copy in list(self._copies.items()):
            since = copy.unwatched_at
            if since is not None and since <= upto and not copy.is_watched:
                self._close(key, copy)

    def _close(self, key: Key, copy: Copy) -> None:
        """Let go of a copy that still has its channel: one that was handed over is not among them any more."""
        del self._copies[key]
        self._due.pop(key, None)
        copy.channel.part()
        if copy.asked_of is not None:
            self._peers.tell(copy.asked_of, Unfollow(*key))

    # -- what owners' nodes say ---------------------------------------------------------------------

    def _hear_following(self, node: str, entry: Following) -> None:
        copy = self._copies.get((entry.kind, entry.id))
        if copy is None:
            self._peers.tell(node, Unfollow(entry.kind, entry.id))
            return
        if node != copy.asked_of or entry.number < copy.since:
            return
        if not entry.is_here:
            self._due[entry.kind, entry.id] = trio.current_time() + AGAIN_SECONDS
            return
        copy.answered = entry.number
        stands_there = (entry.epoch, entry.version) == copy.place or (
            entry.version < 0 and not copy.is_outdated
        )
        if copy.phase is Phase.WHOLE and not stands_there:
            self._renew(copy)
        elif copy.phase is Phase.ASKING and entry.version >= 0 and stands_there:
            self._renewed(copy)
        elif copy.phase is Phase.ASKING:
            self._read(copy)
        elif copy.phase is Phase.WHOLE:
            copy.wake(None, upto=copy.answered)

    def _hear_turned(self, node: str, entry: Turned) -> None:
        copy = self._copies.get((entry.kind, entry.id))
        if copy is None:
            self._peers.tell(node, Unfollow(entry.kind, entry.id))
        elif (node == copy.asked_of or copy.is_next(entry)) and not copy.take(entry):
            self._renew(copy)

    def _hear_stands(self, node: str, entry: Stands) -> None:
        copy = self._copies.get((entry.kind, entry.id))
        if copy is None or node != copy.asked_of or copy.phase is Phase.ASKING:
            return
        if copy.phase is Phase.READING or copy.place != (entry.epoch, entry.version):
            self._renew(copy)

    # -- rows ---------------------------------------------------------------------------------------

    def outdate(self, kind_name: str, id: str) -> None:
        """Have the copy of an owner, if there is one, read its rows anew: they were changed otherwise than by turns.

        A copy that is being brought up to date reads them once more after that, and one that nobody watches reads them
        when somebody does.

        Args:
            kind_name: the name of the owner's kind.
        """
        copy = self._copies.get((kind_name, id))
        if copy is not None:
            copy.changes += 1
            self._renew_outdated(copy)

    def outdate_all(self, kind_name: str) -> None:
        """As `outdate`, for all copies of a kind.

        Args:
            kind_name: the name of the kind.
        """
        for name, id in list(self._copies):
            if name == kind_name:
                self.outdate(name, id)

    def _renew_outdated(self, copy: Copy) -> None:
        if copy.phase is Phase.WHOLE and copy.is_watched and copy.is_outdated:
            key = copy.kind.name, copy.id
            if key not in self._due:
                self._due[key] = copy.anew_at = max(trio.current_time(), copy.anew_at + OUTDATED_SECONDS)

    def _read(self, copy: Copy) -> None:
        copy.phase = Phase.READING
        self._refreshing.add(copy)

    def _is_held(self, copy: Copy) -> bool:
        return self._copies.get((copy.kind.name, copy.id)) is copy

    def _renewed(self, copy: Copy) -> None:
        """A copy has the state of its rows, or stands where they or its owner do."""
        if copy.catch_up():
            copy.wake(None, upto=copy.answered)
            self._renew_outdated(copy)
        else:
            self._renew(copy)

    def _not_renewed(self, copy: Copy, failure: Failure, *, is_gone: bool) -> None:
        """Rows could not be read, or there is no such owner any more."""
        copy.wake(failure)
        if is_gone:
            copy.channel.end(copy.kind.unknown.code)
            if self._is_held(copy):
                self._close((copy.kind.name, copy.id), copy)
            return
        copy.begin_anew()
        if copy.is_watched:
            self._due[copy.kind.name, copy.id] = trio.current_time() + AGAIN_SECONDS
