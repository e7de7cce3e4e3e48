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
        """Run `unit(conn, *args)` without a transaction and return what it returns.

        Raises DatabaseUnavailable within the database's deadline. Cancellation ends the connection that the unit had.
        """
        ...

    async def transact(self, unit: Callable[..., Awaitable[Result]], /, *args: object) -> Result:
        """Run `unit(conn, *args)` inside one transaction, which is durable when this returns.

        Raises OutcomeUnknown, DatabaseUnavailable or RowsRejected. Cancellation before COMMIT is sent undoes the
        transaction; after that it may have been committed.
        """
        ...

    def submit(self, turn: Turn, done: Callable[[PersistenceError | None], None], /) -> None:
        """Hand a turn to the writer; raises QueueFull.

        Args:
            done: called once, in the trio thread: with None when the turn is on disk, else with the error.
        """
        ...


class Head(Protocol):
    """The row that holds the position of an owner."""

    @property
    def seq(self) -> int:
        """The journal position of its last event."""
        ...

    @property
    def version(self) -> int:
        """How many turns the owner has taken."""
        ...

    @property
    def journal_bytes(self) -> int:
        """Encoded size of its events that are kept."""
        ...

    @property
    def epoch(self) -> str:
        """The name of its history."""
        ...

    @property
    def due_at_ms(self) -> int | None:
        """The next deadline as the database knows it, epoch milliseconds; None without one."""
        ...


class Snapshot(Protocol):
    """A stored state whose checksum is right."""

    @property
    def seq(self) -> int:
        """The journal position of the last event in it."""
        ...

    @property
    def version(self) -> int:
        """The version of its encoding."""
        ...

    @property
    def state(self) -> bytes:
        """What the kind's `dump` returned."""
        ...


class JournalRow(Protocol):
    """One stored event."""

    @property
    def seq(self) -> int:
        """Its journal position, which is the channel's offset."""
        ...

    @property
    def event(self) -> bytes:
        """The event, encoded by the kernel."""
        ...


class Journal(Protocol):
    """Heads, events, snapshots and leases: plain functions over a connection."""

    def consistent(self, conn: Connection, /) -> AbstractAsyncContextManager[None]:
        """Make all reads within the block see one snapshot of the database."""
        ...

    async def read_head(self, conn: Connection, kind: str, id: str) -> Head | None:
        """Read the head of an owner; None when there is no such owner."""
        ...

    async def read_snapshots(self, conn: Connection, kind: str, id: str) -> Sequence[Snapshot]:
        """Read the snapshots that are kept, newest first."""
        ...

    async def save_snapshot(
        self, conn: Connection, kind: str, id: str, *, seq: int, version: int, state: bytes
    ) -> None:
        """Keep one more snapshot.

        Args:
            seq: the journal position of the state.
            version: of the snapshot's encoding.
            state: the dumped state.
        """
        ...

    async def read_events(
        self, conn: Connection, kind: str, id: str, *, after: int, limit: int
    ) -> Sequence[JournalRow]:
        """Read the events after a position, in order, at most `limit`."""
        ...

    async def read_events_within(
        self, conn: Connection, kind: str, id: str, *, after: int, limit: int, bytes_max: int
    ) -> Sequence[JournalRow] | None:
        """Read all events after a position, in order; None when they are too many, or too large.

        Args:
            after: the position.
            limit: most events.
            bytes_max: most encoded bytes of them in all.
        """
        ...

    async def trim(self, conn: Connection, kind: str, id: str, *, bytes_max: int) -> int:
        """Delete the oldest events of an owner; returns how many bytes the others have.

        Args:
            bytes_max: most encoded bytes of the events that stay.
        """
        ...

    async def due(self, conn: Connection, *, before_ms: int, limit: int) -> Sequence[tuple[str, str]]:
        """Return kind and id of owners whose deadline has passed, the longest overdue first."""
        ...


class Leases(Protocol):
    """The part of the journal that says which node owns which shards."""

    async def take_leases(
        self, conn: Connection, node: str, shards: Collection[int], ttl_seconds: float, /
    ) -> dict[int, int]:
        """Take those of the shards that no other node holds; returns the new fence of each.

        Cancellation rolls it back, with the transaction.
        """
        ...

    async def renew_leases(
        self, conn: Connection, node: str, fences: Mapping[int, int], ttl_seconds: float, /
    ) -> Collection[int]:
        """Extend leases by `ttl_seconds` from now; returns the shards that are still this node's.

        Cancellation rolls it back, with the transaction.
        """
        ...

    async def release_leases(self, conn: Connection, node: str, shards: Iterable[int], /) -> None:
        """Give leases back, so that the next owner need not wait.

        Cancellation rolls it back, with the transaction.
        """
        ...
