"""What a domain keeps open while the service runs: memory that follows rows, clients of others, kinds of actors.

A part stands beside what it opens, in the folder of its domain, so that whoever needs it names it and gets its type:
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
from routes.edge.config.table import Config
from routes.edge.identity.keys import Keys

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


def _no_kinds(_opened: Any) -> tuple[Kind[Any, Any], ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part(Generic[T_co]):
    """Something that a domain has open, once for each service.

    Args:
        name: for errors.
        open: makes it, before any actor lives. Asks for the parts that it needs by `await opening.of(PART)`, and puts
            what is to be closed at the end on `opening.stack`.
        kinds: the kinds of actors that it brings.
    """

    name: str
    open: "Callable[[Opening], Awaitable[T_co]]"
    kinds: Callable[[T_co], tuple[Kind[Any, Any], ...]] = _no_kinds


class Opened(Protocol):
    """Whoever has parts open: the service."""

    def of(self, part: Part[T], /) -> T:
        """What the part has open."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opening:
    """Opens parts, each once, and before it those that it asks for.

    Args:
        config: as read from the environment.
        clock: the time that rules see.
        random_bytes: where codes and tokens come from.
        database: PostgreSQL, brought up to date.
        keys: the server's own keys.
        stack: closes what is put on it when the service ends, the last first.
    """

    config: Config
    clock: Clock
    random_bytes: RandomBytes
    database: Database
    keys: Keys
    stack: AsyncExitStack
    opened: dict[Part[Any], Any] = field(default_factory=dict)
    """{part: what it opened}, of all that are open by now."""
    _underway: list[Part[Any]] = field(default_factory=list)

    async def of(self, part: Part[T]) -> T:
        """What the part opens; it is opened if it is not yet.

        Raises:
            RuntimeError: parts need each other in a circle.
            Exception: whatever opening it raises.
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
        """The kinds of actors that all open parts bring."""
        return tuple(kind for part, opened in self.opened.items() for kind in part.kinds(opened))
