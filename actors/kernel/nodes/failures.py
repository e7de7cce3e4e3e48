"""What went wrong with a command on another node, as it travels, and as the exception that its caller is given."""

from typing import Any

import structlog

from actors import errors
from actors.errors import Invalid, Refused
from actors.kernel.nodes.entries import Failed
from actors.kernel.supervisor import Fault
from persistence import errors as persistence_errors
from persistence.errors import DatabaseUnavailable, LimitReached, PersistenceError

RENEWED = "the service is just being renewed; try again shortly"
"""The text for a caller whose command the owner's node does not know, because it runs another release."""

_log = structlog.get_logger()


def failed(error: Exception) -> Failed:
    """A failure as it travels: a refusal or a limit in full, because its text is meant for callers; of any other only
    its type.

    Args:
        error: what the owner's node would raise for a caller of its own.
    """
    if isinstance(error, LimitReached):
        return Failed(type(error).__name__, str(error), {"most": error.most})
    if not isinstance(error, Refused):
        return Failed(type(error).__name__)
    broken = error.errors if isinstance(error, Invalid) else ()
    return Failed(type(error).__name__, error.message, error.meta, broken)


def failure(told: Failed) -> Refused | PersistenceError | Fault:
    """The exception that was told; DatabaseUnavailable for a type that this release does not know."""
    if told.name == Fault.__name__:
        return Fault()
    if told.name == LimitReached.__name__:
        return LimitReached(told.sentence, told.meta.get("most", 0))
    kept = getattr(persistence_errors, told.name, None)
    if isinstance(kept, type) and issubclass(kept, PersistenceError):
        return kept()
    refused = getattr(errors, told.name, None)
    if isinstance(refused, type) and issubclass(refused, Refused):
        try:
            return _refusal(refused, told)
        except TypeError:
            _log.warning("refusal_not_understood", name=told.name)
    return DatabaseUnavailable(told.name)


def _refusal(refused: type[Refused], told: Failed) -> Refused:
    meta: dict[str, Any] = told.meta
    if issubclass(refused, Invalid):
        return refused(*told.errors, message=told.sentence, **meta)
    return refused(message=told.sentence, **meta)
