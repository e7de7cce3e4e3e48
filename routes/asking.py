"""Sending a command to an actor that may no longer exist, or be at fault."""

from typing import Any

import structlog

from actors.errors import NotFound, Refused
from actors.kernel.kind import Kind
from actors.kernel.supervisor import Fault
from routes.service import Service

log = structlog.get_logger()


async def ask_if_there(
    service: Service,
    kind: Kind[Any, Any],
    id: str,
    command: object,
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


async def ask_or_put_off(service: Service, kind: Kind[Any, Any], id: str, command: object) -> bool:
    """As `ask_if_there`, for a job that asks one actor after the other, so that none holds up those behind it.

    Args:
        kind, id: the actor's kind and id.
        command: one of the commands of that kind.

    Returns:
        False where the actor has refused it, or is at fault: it is to be asked again by a later run.

    Raises:
        PersistenceError: the database failed; the command may or may not have taken effect.
    """
    try:
        await ask_if_there(service, kind, id, command)
    except (Refused, Fault) as failure:
        log.warning("an actor is asked again later", kind=kind.name, id=id, why=type(failure).__name__)
        return False
    return True
