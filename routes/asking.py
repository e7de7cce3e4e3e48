"""Sends commands to actors that may no longer exist."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from actors.errors import NotFound, Refused
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Failure
from actors.kernel.supervisor import Fault
from routes.jobs import OneOfMany
from routes.service import Service

Command = TypeVar("Command")


async def ask_if_there(
    service: Service,
    kind: Kind[Any, Command],
    id: str,
    command: Command,
    *,
    too_late: tuple[type[Refused], ...] = (NotFound,),
) -> None:
    """Send a command to an actor and wait for its turn; do nothing if the actor does not exist.

    Args:
        kind, id: the actor's kind and id.
        command: one of the commands of that kind.
        too_late: refusals that mean that nothing is left to do; they are swallowed.

    Raises:
        PersistenceError: the database failed; the command may or may not have taken effect.
        Refused: any refusal that is not in `too_late`.
        Fault: the actor failed.
    """
    try:
        await service.system.ask(kind, id, command)
    except too_late:
        return


async def ask_one_of_many(
    service: Service, kind: Kind[Any, Command], id: str, command: Command
) -> Failure | None:
    """Send a command to one of many actors, for a job: one that fails must not keep the others from their turn.

    Args:
        kind, id, command: as for `ask_if_there`.

    Returns:
        Why this actor could not be asked, so that the next run has to try again; None if it was asked, or is gone.

    Raises:
        DatabaseUnavailable, QueueFull: no other actor could be asked either.
    """
    with OneOfMany("asking an actor", f"{kind.name} {id}", service.housekeeping.failing) as asking:
        await ask_if_there(service, kind, id, command)
    return asking.failure


class AskedUntilFailed(Generic[Command]):
    """Sends several commands each to many actors of a kind, for a job, and sends no more to an actor that has failed:
    it would be parked after more failures, and the next run sends what it has missed.

    Args:
        kind: the actors' kind.

    Attributes:
        failure: the last failure of an actor; None when all went well.
    """

    def __init__(self, service: Service, kind: Kind[Any, Command]) -> None:
        self.failure: Failure | None = None
        self._service = service
        self._kind = kind
        self._failed: set[str] = set()

    async def ask(self, id: str, command: Command) -> None:
        """Send a command to an actor and wait for its turn; do nothing if it does not exist, or has failed before.

        Raises:
            DatabaseUnavailable, QueueFull: no other actor could be asked either.
        """
        if id in self._failed:
            return
        failure = await ask_one_of_many(self._service, self._kind, id, command)
        if failure is not None:
            self._failed.add(id)
            self.failure = failure

    def check(self) -> None:
        """Raise a fault if an actor has failed; to be called once all were asked.

        Raises:
            Fault: an actor has failed in whatever way. A `Fault` makes the job pause longer each time: a parked actor
                goes on refusing, and to ask all others again every second would be expensive.
        """
        if self.failure is not None:
            raise Fault from self.failure


async def ask_all_there(
    service: Service, kind: Kind[Any, Command], commands: Iterable[tuple[str, Command]]
) -> None:
    """Send commands to several actors of a kind, one after the other, so that none holds up those behind it.

    Args:
        commands: (id of an actor, command for it) pairs.

    Raises:
        DatabaseUnavailable, QueueFull: the database cannot be asked; the actors behind were not asked.
        PersistenceError, Refused, Fault: the last failure of an actor; all others were asked.
    """
    failure: Failure | None = None
    for id, command in commands:
        failure = await ask_one_of_many(service, kind, id, command) or failure
    if failure is not None:
        raise failure
