"""Asking an owner who may be gone by then."""

from typing import Any

from actors.errors import NotFound, Refused
from actors.kernel.kind import Kind
from routes.service import Service


async def ask_if_there(
    service: Service,
    kind: Kind[Any, Any],
    id: str,
    command: object,
    *,
    too_late: tuple[type[Refused], ...] = (NotFound,),
) -> None:
    """Have an owner do something, unless there is none.

    Args:
        kind, id: who is asked.
        command: of the kind.
        too_late: refusals that say that there is nothing to be done any more.

    Raises:
        PersistenceError: nobody knows whether it was done.
        Refused: anything else that the owner answers.
        Fault: the owner failed.
    """
    try:
        await service.system.ask(kind, id, command)
    except too_late:
        return
