"""Where requests, turns and units of work can be seen. Without telemetry these are the plain classes themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from actors.kernel.observer import Observer
from persistence.bridge.database import Database
from routes.edge.faults import OperatorFault
from routes.edge.pipeline.dispatch import Edge
from routes.edge.pipeline.dispatcher import Dispatcher


class TelemetryMissing(OperatorFault):
    """Telemetry is wanted, and the packages for it are not installed; the message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Seams:
    """What is made in place of the plain classes.

    Args:
        edge: answers requests.
        database: runs units of work.
        observer: sees the turns of actors.
    """

    edge: Callable[..., Dispatcher] = Edge
    database: Callable[..., Database] = Database
    observer: Observer | None = None


PLAIN = Seams()
"""Nothing is seen, and nothing is in the way."""
