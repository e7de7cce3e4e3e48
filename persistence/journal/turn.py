"""What an actor hands to the writer: one turn, committed as a whole or not at all.

The writer commits the turns of many actors in one transaction (`commit.py`): it checks the leases, moves the heads,
appends the journal, stores the receipts, calls each kind's `persist` once with all of its turns, and adds the
notifications that come of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from persistence.connection import Connection
from persistence.notifications.notifications import NewNotification

NO_CONTENT = 204
"""The HTTP status of a reply whose body is always empty."""

MARK_BYTES = 16
"""Length of the mark at the end of a fingerprint, which says whose request it was."""


class Receipt(msgspec.Struct, frozen=True):
    """The stored answer to a request with an Idempotency-Key; it commits together with the request's effect.

    Args:
        key: SHA-256 over principal, method, path and Idempotency-Key (32 bytes).
        fingerprint: SHA-256 of the request body (32 bytes), and the mark of whose request it is (16 bytes).
        status: the HTTP status that was answered, 200 to 299.
        reply: the encoded body, encrypted when it holds a secret.
        expires_at_ms: when the key may be forgotten, epoch milliseconds.
        etag: the reply's ETag, encrypted if the reply is; empty where it has none.
    """

    key: bytes
    fingerprint: bytes
    status: int
    reply: bytes
    expires_at_ms: int
    etag: bytes = b""

    @property
    def forgotten(self) -> bool:
        """Whether the reply was removed, because it named a user who was erased; the request still counts as done."""
        return not self.reply and self.status != NO_CONTENT


class Statement(msgspec.Struct, frozen=True):
    """One statement that writes many rows.

    Args:
        sql: constant text; its parameters are `$1` and up.
        parameters: a value for each parameter, mostly a list of rows, or of one column's values.
    """

    sql: str
    parameters: Sequence[object]


class Turn(msgspec.Struct, frozen=True):
    """What one turn of one actor has decided, to be committed.

    Args:
        kind: name of the actor's kind.
        id: the actor's id within its kind.
        shard: the lease that covers it.
        fence: the lease's fence under which the turn was decided.
        seq: journal position before the turn; the turn's journal rows get `seq + 1` and up.
        version: how many turns the actor had taken before this one, as its head counts them.
        at_ms: when it was decided, epoch milliseconds.
        events: every durable event in order, as the kind's own structs, for `persist`.
        journal: the events that go into the journal, encoded, in order.
        due_at_ms: the actor's next deadline after the turn, epoch milliseconds, or None.
        summary: what lists show of the actor, stored with its head; the kind's own encoding.
        persist: writes the rows of all turns of this kind in the batch, inside the writer's transaction.
        receipts: answers to store for idempotent repeats.
        plan: says which statements `persist` would run; None for a kind that never knows them beforehand.
    """

    kind: str
    id: str
    shard: int
    fence: int
    seq: int
    version: int
    at_ms: int
    events: tuple[Any, ...]
    journal: tuple[bytes, ...]
    due_at_ms: int | None
    summary: bytes
    persist: "Persist"
    receipts: tuple[Receipt, ...] = ()
    plan: "Plan | None" = None


Persist: TypeAlias = Callable[[Connection, Sequence[Turn]], Awaitable[Sequence[NewNotification] | None]]
"""`async def persist(conn, turns)`: one statement per table for all turns, `unnest` rather than row by row.

It returns the notifications that come of them, if any. The writer adds those of all kinds together, since their users'
heads have to be locked in one order."""

Plan: TypeAlias = Callable[[Sequence[Turn]], Sequence[Statement] | None]
"""`def plan(turns)`: the statements that `persist` would run, or None when one of them meets a row that another writes.
They become parts of one statement, which is a transaction by itself, and whose parts do not see each other's rows."""
