"""Where telemetry observes requests, turns and units of work. Without it, these are the plain classes themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from actors.kernel.observer import Observer
from persistence.bridge.database import Database
from routes.edge.faults import OperatorFault
from routes.edge.pipeline.dispatch import Edge
from routes.edge.pipeline.dispatcher import Dispatcher


class TelemetryMissing(OperatorFault):
    """Telemetry is configured, but its packages are not installed; the message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Seams:
    """What is used in place of the plain classes.

    Args:
        edge: makes what answers requests.
        database: makes what runs units of work.
        observer: observes the turns of actors; None = nobody does.
    """

    edge: Callable[..., Dispatcher] = Edge
    database: Callable[..., Database] = Database
    observer: Observer | None = None


PLAIN = Seams()
"""The plain classes: nothing is observed, and nothing is slowed down."""
