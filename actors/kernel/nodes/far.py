"""What the actors of one node and of the others have to do with each other: commands for owners elsewhere, views and
memory elsewhere that show what owners here have done.

A command is sent once. What was not answered in time may have been done, and its caller is told so (`OutcomeUnknown`).
"""

from collections.abc import Callable, Collection, Mapping
from itertools import count
from typing import Any, Protocol

import msgspec
import structlog
import trio

from actors import errors
from actors.errors import Elsewhere, Overloaded, Refused
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer, Failure, Letter
from actors.kernel.nodes.entries import Answered, Asked, Failed, Heard, Told, Touched, encode
from actors.kernel.nodes.membership import Membership
from actors.kernel.nodes.whereabouts import Place
from actors.kernel.one_shot import OneShot
from actors.kernel.supervisor import Fault
from persistence import errors as persistence_errors
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError
from persistence.nodes.members import Lease

_log = structlog.get_logger(__name__)

MARGIN_SECONDS = 0.25
"""An asker waits so much longer than the owner's node does, which knows the outcome."""


class Here(Protocol):
    """The actors of this node."""

    async def ask(self, kind: Kind[Any, Any], id: str, command: Any) -> Any:
        """Have an owner decide a command of its kind; see `directory.System.ask`. Cancellation: the caller leaves."""
        ...

    def tell_here(self, kind_name: str, id: str, command: Any) -> bool:
        """Tell an owner that lives here a command of its kind; returns False when it does not.

        Args:
            kind_name: the name of the kind.
            command: one of the kind's.
        """
        ...

    def touched_here(self, view_name: str, ids: Collection[str], source: str) -> None:
        """Mark views that are watched here as changed.

        Args:
            view_name: the name of the view.
            source: the id of the owner whose event it was.
        """
        ...


class Far:
    """The way from this node's actors to those of the others.

    Args:
        membership: this node among others.
        spawn: starts a task that ends with the node.
        ask_seconds: how long a caller waits for its answer.
    """

    def __init__(
        self,
        membership: Membership,
        spawn: Callable[..., object],
        ask_seconds: float,
    ) -> None:
        self._membership = membership
        self._where = membership.where
        self._spawn = spawn
        self._ask_seconds = ask_seconds
        self._here: Here | None = None
        self._kinds: Mapping[str, Kind[Any, Any]] = {}
        self._numbers = count(1)
        self._pending: dict[int, tuple[str, OneShot[Answered | None]]] = {}

    def open(self, here: Here, kinds: Mapping[str, Kind[Any, Any]]) -> None:
        """Connect the actors of this node; called once.

        Args:
            here: they.
            kinds: every kind, by name.
        """
        self._here, self._kinds = here, kinds
        peers = self._membership.peers
        peers.hear(Asked, self._hear_question)
        peers.hear(Answered, self._hear_answer)
        peers.hear(Told, self._hear_told)
        peers.hear(Touched, lambda _, entry: here.touched_here(entry.view, entry.ids, entry.source))
        peers.hear(Heard, self._hear_news)
        peers.on_parted(self._parted)

    # -- to owners elsewhere ------------------------------------------------------------------------

    def is_here(self, kind_name: str, id: str) -> bool:
        """Whether an owner lives here, or may be loaded here now.

        Args:
            kind_name: the name of its kind.
        """
        return self._where.is_here(kind_name, id)

    async def place(self, kind_name: str, id: str) -> Place | None:
        """Where an owner lives, None for here; waits as long as an ask may while it is on its way.

        Args:
            kind_name: the name of its kind.

        Raises:
            Overloaded: its node is not heard, or it is nowhere. Cancellation ends the wait.
        """
        return await self._where.place(kind_name, id, self._ask_seconds)

    async def ask(self, place: Place, kind: Kind[Any, Any], id: str, command: Any) -> Any:
        """Have an owner elsewhere decide a command; returns its reply.

        Args:
            place: where it lives.
            kind, id: which owner.
            command: one that crosses (`Kind.crossing`).

        Raises: what `System.ask` raises there; TypeError for a command that does not cross, a defect; Overloaded when
        its node takes no more; OutcomeUnknown when there is no answer in time. Cancellation: the caller leaves, and the
        command takes effect.
        """
        if type(command) not in kind.crossing:
            raise TypeError(f"{type(command).__name__} does not cross between nodes")
        number = next(self._numbers)
        waiter: OneShot[Answered | None] = OneShot()
        left_ms = int(self._ask_seconds * 1000)
        name = type(command).__name__
        asked = Asked(number, kind.name, id, place.fence, name, encode(command), left_ms)
        if not self._membership.peers.call(place.node, asked):
            raise Overloaded
        self._pending[number] = (place.node, waiter)
        answer = None
        try:
            with trio.move_on_after(self._ask_seconds + MARGIN_SECONDS):
                answer = await waiter.wait()
        finally:
            del self._pending[number]
        if answer is None:
            raise OutcomeUnknown(f"no answer from node {place.node}")
        if answer.failure is not None:
            raise _failure(answer.failure)
        reply = answer.reply
        return None if reply is None else msgspec.msgpack.decode(reply, type=kind.crossing[type(command)])

    async def post(
        self,
        kind: Kind[Any, Any],
        id: str,
        letter: Letter,
        deliver: Callable[[Kind[Any, Any], str, Letter], None],
    ) -> None:
        """Have a letter decided wherever its owner is, and answer it. Cancellation: it is not answered.

        What goes wrong, Elsewhere for a command that does not cross above all, is in the answer.

        Args:
            kind, id: which owner.
            letter: one without a receipt, for an owner elsewhere.
            deliver: takes it where the owner turns out to be here.
        """
        reply: Any = None
        error: Failure | None = None
        try:
            place = await self.place(kind.name, id)
            if place is None:
                deliver(kind, id, letter)
                return
            if letter.receipt is not None or type(letter.command) not in kind.crossing:
                raise Elsewhere(*place)
            reply = await self.ask(place, kind, id, letter.command)
        except (Refused, PersistenceError, Fault) as failure:
            error = failure
        letter.close(Answer(reply, error))

    def tell(self, kind: Kind[Any, Any], id: str, command: Any) -> None:
        """Tell an owner elsewhere, if it lives there, a command without a caller."""
        place = self._where.elsewhere(kind.name, id)
        if place is None:
            return
        if type(command) not in kind.crossing:
            _log.error("command_does_not_cross", kind=kind.name, command=type(command).__name__)
            return
        told = Told(kind.name, id, type(command).__name__, encode(command))
        self._membership.peers.tell(place.node, told)

    # -- from owners here ---------------------------------------------------------------------------

    def touched(self, view_name: str, ids: Collection[str], source: str) -> None:
        """Have views marked as changed wherever else they are watched.

        Args:
            view_name: the name of the view.
            source: the id of the owner whose event it was.
        """
        if ids:
            self._membership.peers.tell_all(Touched(view_name, list(ids), source))

    def news(self, kind_name: str, id: str, event: Any) -> None:
        """Have memory on all other nodes follow an event of an owner here.

        Args:
            kind_name: the name of its kind.
            event: None to have memory ask the owner.
        """
        heard = (
            Heard(kind_name, id, "", b"")
            if event is None
            else Heard(kind_name, id, type(event).__name__, encode(event))
        )
        self._membership.peers.tell_all(heard)

    # -- from the others ----------------------------------------------------------------------------

    def _hear_question(self, node: str, asked: Asked) -> None:
        self._spawn(self._answer, node, asked)

    async def _answer(self, node: str, asked: Asked) -> None:
        own, shard = self._membership.life.node, self._where.shard_of(asked.kind, asked.id)
        self._where.learn({shard: Lease(own, asked.fence)})
        reply: bytes | None = None
        failure: Failed | None = None
        try:
            with trio.fail_after(asked.left_ms / 1000):
                reply = await self._reply(asked)
        except (Refused, PersistenceError) as refusal:
            failure = Failed(type(refusal).__name__, str(refusal))
        except trio.TooSlowError:
            failure = Failed(OutcomeUnknown.__name__)
        except (Fault, TypeError, msgspec.DecodeError, KeyError) as fault:
            _log.warning("question_not_answered", node=node, kind=asked.kind, why=type(fault).__name__)
            failure = Failed(Fault.__name__)
        self._membership.peers.tell(node, Answered(asked.number, reply, failure))

    async def _reply(self, asked: Asked) -> bytes | None:
        kind = self._kinds[asked.kind]
        command = _command(kind, asked.name, asked.command)
        if self._here is None:
            raise Overloaded
        reply = await self._here.ask(kind, asked.id, command)
        return None if kind.crossing[type(command)] is None else encode(reply)

    def _hear_answer(self, _node: str, answered: Answered) -> None:
        pending = self._pending.get(answered.number)
        if pending is not None:
            pending[1].wake(answered)

    def _hear_told(self, _node: str, told: Told) -> None:
        if self._here is not None:
            kind = self._kinds[told.kind]
            self._here.tell_here(kind.name, told.id, _command(kind, told.name, told.command))

    def _hear_news(self, _node: str, heard: Heard) -> None:
        followers = self._kinds[heard.kind].followers
        news = None if followers is None else followers.news
        if followers is not None and not heard.name:
            if followers.on_outcome_unknown is not None:
                followers.on_outcome_unknown(heard.id)
        elif news is not None:
            form = next(one for one in news.of if one.__name__ == heard.name)
            news.hear(heard.id, msgspec.msgpack.decode(heard.event, type=form))

    def _parted(self, node: str) -> None:
        for asked_of, waiter in list(self._pending.values()):
            if asked_of == node:
                waiter.wake(None)


def _command(kind: Kind[Any, Any], name: str, data: bytes) -> Any:
    form = next(one for one in kind.crossing if one.__name__ == name)
    return msgspec.msgpack.decode(data, type=form)


def _failure(failed: Failed) -> Exception:
    """The exception that the owner's node has named, as far as it can be made here."""
    if failed.name == Fault.__name__:
        return Fault()
    kept = getattr(persistence_errors, failed.name, None)
    if isinstance(kept, type) and issubclass(kept, PersistenceError):
        return kept(failed.sentence)
    refused = getattr(errors, failed.name, None)
    if isinstance(refused, type) and issubclass(refused, Refused):
        return refused(message=failed.sentence)
    return DatabaseUnavailable(failed.sentence)
