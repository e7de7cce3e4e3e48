"""The database as the kernel sees it: two small protocols, so that tests can put a faulty one in its place.

`persistence.bridge.database.Database` is the `Store`, the module `persistence.journal.journal` is the `Journal`. Units
of work run on the database's thread and see only their connection.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.journal.turn import Turn

Result = TypeVar("Result")


class Store(Protocol):
    """Runs units of work, and commits turns."""

    async def read(self, unit: Callable[..., Awaitable[Result]], /, *args: object) -> Result:
        """What `unit(conn, *args)` returns; raises DatabaseUnavailable within the database's deadline.

        Cancellation ends the connection that the unit had.
        """
        ...

    async def transact(self, unit: Callable[..., Awaitable[Result]], /, *args: object) -> Result:
        """Run `unit(conn, *args)` inside one transaction, which is durable when this returns.

        Cancellation before the commit undoes the transaction; during it, the outcome is unknown to the caller.
        """
        ...

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None], /) -> None:
        """Hand a turn to the writer; `done` is called once, in the trio thread. Raises QueueFull."""
        ...


class Head(Protocol):
    """The row that says how far an owner has come."""

    @property
    def seq(self) -> int:
        """The journal position of its last event."""
        ...

    @property
    def version(self) -> int:
        """How many turns it has taken."""
        ...

    @property
    def journal_bytes(self) -> int:
        """What its kept events take, encoded."""
        ...

    @property
    def epoch(self) -> str:
        """The name of its history."""
        ...

    @property
    def due_at_ms(self) -> int | None:
        """Its next deadline as the database knows it."""
        ...


class Snapshot(Protocol):
    """A stored state whose checksum fits."""

    @property
    def seq(self) -> int:
        """The last event in it."""
        ...

    @property
    def version(self) -> int:
        """Of its encoding."""
        ...

    @property
    def state(self) -> bytes:
        """What the kind's `dump` returned."""
        ...


class JournalRow(Protocol):
    """One stored event."""

    @property
    def seq(self) -> int:
        """Its place, which is the channel's offset."""
        ...

    @property
    def event(self) -> bytes:
        """The event, encoded by the kernel."""
        ...


class Journal(Protocol):
    """Heads, events, snapshots and leases: plain functions over a connection."""

    def consistent(self, conn: Connection, /) -> AbstractAsyncContextManager[None]:
        """Everything read within sees one and the same moment."""
        ...

    async def read_head(self, conn: Connection, kind: str, id: str) -> Head | None:
        """The head of an owner, or None when there is no such thing."""
        ...

    async def read_snapshots(self, conn: Connection, kind: str, id: str) -> Sequence[Snapshot]:
        """The kept snapshots, newest first."""
        ...

    async def save_snapshot(
        self, conn: Connection, kind: str, id: str, *, seq: int, version: int, state: bytes
    ) -> None:
        """Keep one more snapshot.

        Args:
            version: of the snapshot's encoding.
            state: the dumped state.
        """
        ...

    async def read_events(
        self, conn: Connection, kind: str, id: str, *, after: int, limit: int
    ) -> Sequence[JournalRow]:
        """Events after a position, in order."""
        ...

    async def read_events_within(
        self, conn: Connection, kind: str, id: str, *, after: int, limit: int, bytes_max: int
    ) -> Sequence[JournalRow] | None:
        """All events after a position, in order; None when they are too many, or too large.

        Args:
            bytes_max: what they may have, encoded.
        """
        ...

    async def trim(self, conn: Connection, kind: str, id: str, *, bytes_max: int) -> int:
        """Forget the oldest events beyond so many bytes; returns what the others have.

        Args:
            bytes_max: what the events that stay may have, encoded.
        """
        ...

    async def due(self, conn: Connection, *, before_ms: int, limit: int) -> Sequence[tuple[str, str]]:
        """Kind and id of owners whose deadline has passed, the longest overdue first."""
        ...


class Leases(Protocol):
    """The part of the journal that says which node owns which shards."""

    async def take_leases(
        self, conn: Connection, node: str, shards: Collection[int], ttl_seconds: float, /
    ) -> dict[int, int]:
        """Take those of the shards that no other node holds; returns the new fence of each. Cancellation undoes it."""
        ...

    async def renew_leases(
        self, conn: Connection, node: str, fences: Mapping[int, int], ttl_seconds: float, /
    ) -> Collection[int]:
        """Prolong leases; returns the shards that are still ours. Cancellation undoes it."""
        ...

    async def release_leases(self, conn: Connection, node: str, shards: Iterable[int], /) -> None:
        """Give leases back, so that the next owner need not wait. Cancellation undoes it."""
        ...
