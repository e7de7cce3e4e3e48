"""The database as the kernel sees it: a few small protocols, so that tests can put a faulty one in its place.

`persistence.bridge.database.Database` is the `Store`, the modules `persistence.journal.journal` and
`persistence.nodes.nodes` are the `Journal` and the `Nodes`. Units of work run on the database's thread and see only
their connection.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar, TypeVarTuple

from persistence.connection import Connection, Unit
from persistence.errors import PersistenceError
from persistence.journal.turn import Turn
from persistence.nodes.members import Said, View

Result = TypeVar("Result")
Args = TypeVarTuple("Args")


class Store(Protocol):
    """Runs units of work, and commits turns."""

    async def read(self, unit: Unit[*Args, Result], /, *args: *Args) -> Result:
        """Run `unit(conn, *args)` without a transaction and return what it returns.

        Raises DatabaseUnavailable within the database's deadline. Cancellation ends the connection that the unit had.
        """
        ...

    async def transact(self, unit: Unit[*Args, Result], /, *args: *Args) -> Result:
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

    @property
    def updated_at_ms(self) -> int:
        """The time of its last turn, epoch milliseconds."""
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
    """Heads, events and snapshots: plain functions over a connection."""

    def consistent(self, conn: Connection, /) -> AbstractAsyncContextManager[None]:
        """Make all reads within the block see one snapshot of the database."""
        ...

    async def read_head(self, conn: Connection, kind: str, id: str) -> Head | None:
        """Read the head of an owner; None when there is no such owner."""
        ...

    async def read_heads(self, conn: Connection, kind: str, ids: Sequence[str]) -> Mapping[str, Head]:
        """Read the heads of owners, {id: head}; ids without an owner are left out."""
        ...

    async def read_positions(
        self, conn: Connection, kind: str, ids: Sequence[str]
    ) -> Mapping[str, tuple[str, int]]:
        """Read where owners stand, {id: (epoch, version)}; ids without an owner are left out."""
        ...

    async def seal(self, conn: Connection, kind: str, id: str, *, shard: int, fence: int) -> None:
        """Move the version of a head, so that no turn decided before this can be committed afterwards.

        Does nothing without a head, or when the lease has moved. Fails while such a turn is still being committed.

        Args:
            shard, fence: the lease under which this node owns the owner's shard.
        """
        ...

    async def read_snapshots(self, conn: Connection, kind: str, id: str) -> Sequence[Snapshot]:
        """Read the snapshots that are kept, newest first."""
        ...

    async def read_snapshots_of(
        self, conn: Connection, kind: str, ids: Sequence[str]
    ) -> Mapping[str, Sequence[Snapshot]]:
        """Read the snapshots of owners that are kept, {id: snapshots, newest first}."""
        ...

    async def save_snapshot(
        self, conn: Connection, kind: str, id: str, *, seq: int, version: int, state: bytes
    ) -> None:
        """Keep one more snapshot.

        Args:
            seq: the journal position of the state.
            version: the version of the snapshot's encoding.
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
            after: the journal position.
            limit: most events to return.
            bytes_max: most encoded bytes of these events in all.
        """
        ...

    async def trim(self, conn: Connection, kind: str, id: str, *, bytes_max: int) -> int:
        """Delete the oldest events of an owner; returns how many bytes the others have.

        Args:
            bytes_max: most encoded bytes of the events that stay.
        """
        ...

    async def due(
        self, conn: Connection, *, shards: Collection[int], before_ms: int, limit: int
    ) -> Sequence[tuple[str, str]]:
        """Return kind and id of owners in these shards whose deadline has passed, the longest overdue first."""
        ...


class Nodes(Protocol):
    """The rows that say which processes live, and which of them owns which shards."""

    async def hold_alone(
        self, conn: Connection, node: str, ttl_seconds: float, former_life: int, /
    ) -> tuple[int, dict[int, int]] | None:
        """Begin a life of a node that owns every shard; returns the life and the fence of each shard.

        None when another node lives, or another process under this name since `former_life`.
        Cancellation rolls it back, with the transaction.
        """
        ...

    async def renew(self, conn: Connection, node: str, life: int, ttl_seconds: float, /) -> bool:
        """Extend the node's row by `ttl_seconds` from now; False when the node was declared dead.

        Cancellation rolls it back, with the transaction.
        """
        ...

    async def leave(self, conn: Connection, node: str, life: int, /) -> None:
        """End a life, so that the next owner of its shards need not wait.

        Cancellation rolls it back, with the transaction.
        """
        ...


class Members(Protocol):
    """The rows of nodes that serve together: which nodes there are, and which of them owns which shards.

    Each runs in a transaction of its own.
    """

    async def renew(
        self, conn: Connection, node: str, life: int, ttl_seconds: float, said: Said, /
    ) -> View | None:
        """Extend a node's row, write `said` into it, and read all rows; None when the node was declared dead.

        Cancellation rolls it back, with the transaction.
        """
        ...

    async def take(
        self, conn: Connection, node: str, life: int, shards: Collection[int], /
    ) -> dict[int, int] | None:
        """Declare nodes dead whose rows have run out, and take shards that no living node owns.

        Returns {shard: fence} of the shards taken, or None when the node itself was declared dead. Cancellation rolls
        it back, with the transaction.
        """
        ...

    async def give(self, conn: Connection, node: str, to: str, fences: dict[int, int], /) -> dict[int, int]:
        """Give shards to another node; {shard: new fence} of those given. Cancellation rolls it back.

        Args:
            fences: under which the giver owns them, {shard: fence}.
        """
        ...

    async def leave(self, conn: Connection, node: str, life: int, /) -> None:
        """End a life, so that the next owner of its shards need not wait. Cancellation rolls it back."""
        ...
