"""Routing: whether a letter goes into a mailbox of this node, or to the node that has its owner.

Invariant: letters for one owner keep their order. While one is on its way to another node, or its answer back, later
ones go behind it, even where the owner may be loaded here by now.
"""

from collections.abc import Callable
from typing import Any

from actors.errors import Draining, Elsewhere, Overloaded, Parked
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer, Letter
from actors.kernel.nodes.far import Far
from actors.kernel.owners import Owners
from actors.kernel.runtime import Runtime


class Routing:
    """Sends letters to the owners of this node and of others.

    Args:
        runtime: what all actors of the system share.
        owners: the live owners of this node.
        far: the way to owners on other nodes; None without other nodes.
    """

    def __init__(self, runtime: Runtime, owners: Owners, far: Far | None) -> None:
        self._runtime = runtime
        self._owners = owners
        self._far = far

    def is_far(self, kind: Kind[Any, Any], id: str) -> bool:
        """Whether letters to an owner go to another node, or wait until it is known which node has it. True also while
        letters that were posted earlier are on their way there: later ones go behind them."""
        far = self._far
        if far is None:
            return False
        if far.holds(kind.name, id):
            return True
        return (kind.name, id) not in self._owners.live and not far.where.is_here(kind.name, id)

    async def go_to(self, kind: Kind[Any, Any], id: str) -> None:
        """Return at once where an owner lives here, or may be loaded here. Cancellation ends only the wait.

        Raises:
            Elsewhere: another node has the owner.
            Overloaded: the owner is between two nodes for too long, or its node is not heard.
        """
        if self._far is not None and (kind.name, id) not in self._owners.live:
            place = await self._far.place(kind.name, id)
            if place is not None:
                raise Elsewhere(*place)

    def leave(self, kind: Kind[Any, Any], id: str) -> None:
        """Do nothing unless another node is known to have an owner.

        Raises:
            Elsewhere: another node has the owner.
        """
        if self._far is not None and (kind.name, id) not in self._owners.live:
            place = self._far.where.elsewhere(kind.name, id)
            if place is not None:
                raise Elsewhere(*place)

    def send(self, kind: Kind[Any, Any], id: str, letter: Letter) -> None:
        """Give a letter to an owner on whichever node it is, behind the letters sent before."""
        if self._far is not None and self.is_far(kind, id):
            self._far.post(kind, id, letter, self._far.ask_seconds)
        else:
            self.deliver(kind, id, letter)

    def deliver(self, kind: Kind[Any, Any], id: str, letter: Letter) -> None:
        """Give a letter to an owner of this node, which is activated if need be."""
        owners = self._owners
        if owners.closing:
            letter.close(Answer(None, Draining()))
            return
        actor = owners.live.get((kind.name, id)) or owners.activate(kind, id)
        if letter.deadline_ms - self._runtime.ask_ms < actor.parked_until_ms:
            letter.close(Answer(None, Parked()))
        elif not actor.mailbox.push(letter):
            letter.close(Answer(None, Overloaded()))
        else:
            actor.poke()

    def post_for_other(
        self,
        kind: Kind[Any, Any],
        id: str,
        command: Any,
        answer: Callable[[Answer], None],
        seconds: float,
    ) -> None:
        """As `System.post`, for a caller on another node: a command whose owner is not here is answered with Elsewhere.

        Args:
            kind, id, command: as for `System.post`.
            answer: called with the outcome, synchronously.
            seconds: how long the caller waits.
        """
        deadline_ms = self._runtime.clock.now_ms() + int(seconds * 1000)
        letter = Letter(command, answer, None, deadline_ms, passes=False)
        if self._far is not None and self.is_far(kind, id):
            self._far.post(kind, id, letter, seconds)
        else:
            self.deliver(kind, id, letter)

    def tell_here(self, kind_name: str, id: str, command: Any) -> bool:
        """As `System.tell`, for owners of this node alone.

        Args:
            kind_name: the name of the kind.
            command: one of the kind's commands.
        """
        actor = self._owners.live.get((kind_name, id))
        if actor is None:
            return False
        actor.tell(command)
        return True
