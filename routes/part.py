"""Parts: what a domain keeps open while the service runs, such as caches of rows, clients, and kinds of actors.

A part is a constant in the folder of its domain. Callers get the opened object, with its type, by
`service.of(FRIENDS_LIVE)`.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from actors.ids import RandomBytes
from actors.kernel.clock import Clock
from actors.kernel.kind import Kind
from persistence.bridge.database import Database
from routes.config.config import Config
from routes.edge.identity.keys import Keys

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


def _no_kinds(_opened: Any) -> tuple[Kind[Any, Any], ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part(Generic[T_co]):
    """An object that a domain opens once for each service.

    Args:
        name: for error messages.
        open: makes the object, before any actor is activated. Gets the parts that it needs by `await opening.of(PART)`,
            and puts what must be closed at the end on `opening.stack`.
        kinds: the kinds of actors that the object provides.
    """

    name: str
    open: "Callable[[Opening], Awaitable[T_co]]"
    kinds: Callable[[T_co], tuple[Kind[Any, Any], ...]] = _no_kinds


class Opened(Protocol):
    """What gives access to opened parts: the service."""

    def of(self, part: Part[T], /) -> T:
        """The object that the part has opened."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opening:
    """Opens parts, each once, and the parts that one needs before it.

    Args:
        config: the configuration, as read from the environment.
        clock: the time that the rules go by.
        random_bytes: the random source of codes and tokens.
        database: the database, migrated.
        keys: the server's own keys.
        stack: closed when the service ends, in reverse order.
        begun_at_ms: since when at least one node of the service has always run, epoch milliseconds.
        nodes: how many nodes serve together at this moment, at least 1.
    """

    config: Config
    clock: Clock
    random_bytes: RandomBytes
    database: Database
    keys: Keys
    stack: AsyncExitStack
    begun_at_ms: int
    nodes: Callable[[], int] = lambda: 1
    opened: dict[Part[Any], Any] = field(default_factory=dict)
    """{part: the object that it opened}, of all parts opened so far."""
    _underway: list[Part[Any]] = field(default_factory=list)

    async def of(self, part: Part[T]) -> T:
        """The object of a part, which is opened now if it is not open yet.

        Raises:
            RuntimeError: parts need each other in a cycle.
            Exception: what opening the part raises.
        """
        if part not in self.opened:
            if part in self._underway:
                circle = " → ".join(one.name for one in (*self._underway, part))
                raise RuntimeError(f"parts need each other: {circle}")
            self._underway.append(part)
            self.opened[part] = await part.open(self)
            self._underway.pop()
        opened: T = self.opened[part]
        return opened

    def kinds(self) -> tuple[Kind[Any, Any], ...]:
        """The kinds of actors that all opened parts provide."""
        return tuple(kind for part, opened in self.opened.items() for kind in part.kinds(opened))
