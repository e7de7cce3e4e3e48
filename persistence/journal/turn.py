"""What an actor hands to the writer: one turn, all or nothing.

The writer (`commit.py`) commits the turns of many actors in one transaction: it checks the leases, moves
the heads, appends the journal, stores the receipts and calls each kind's `persist` once with all of its turns.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from persistence.connection import Connection

NO_CONTENT = 204
"""The status of a reply that is empty from the start."""

MARK_BYTES = 16
"""Of a fingerprint: its end, which says whose request it was."""


class Receipt(msgspec.Struct, frozen=True):
    """The stored answer to a request with an Idempotency-Key; it commits together with the request's effect.

    Args:
        key: SHA-256 over principal, method, path and Idempotency-Key (32 bytes).
        fingerprint: SHA-256 of the request body (32 bytes), and the mark of whose request it is (16 bytes).
        status: the HTTP status that was answered, 200 to 299.
        reply: the encoded body, sealed when it holds a secret.
        expires_at_ms: when the key may be forgotten.
    """

    key: bytes
    fingerprint: bytes
    status: int
    reply: bytes
    expires_at_ms: int

    @property
    def forgotten(self) -> bool:
        """The reply was removed, because it named a user who was erased since; that there was one is still known."""
        return not self.reply and self.status != NO_CONTENT


class Statement(msgspec.Struct, frozen=True):
    """One statement that writes many rows.

    Args:
        sql: constant text; its parameters are `$1` and up.
        parameters: a value for each, mostly the rows, or their columns.
    """

    sql: str
    parameters: Sequence[object]


class Turn(msgspec.Struct, frozen=True):
    """The committed-to-be outcome of one turn of one actor.

    Args:
        kind: name of the actor's kind.
        id: the actor's id within its kind.
        shard: the lease that covers it.
        fence: the lease's fence under which the turn was decided.
        seq: journal position before the turn; the turn's journal rows get `seq + 1` and up.
        version: how many turns the actor had taken before this one, as its head counts them.
        at_ms: when it was decided, epoch milliseconds.
        events: every durable event in order, as the kind's own structs, for `persist`.
        journal: (encoded event) of those that take a place in the journal, in order.
        due_at_ms: the actor's next deadline after the turn, or None.
        summary: what lists show of the actor, kept beside its head.
        persist: writes the rows of all turns of this kind in the batch, inside the writer's transaction.
        receipts: answers to keep for idempotent repeats.
        plan: says in which statements `persist` would write the rows, where that is a matter of a few.
    """

    kind: str
    id: str
    shard: int
    fence: int
    seq: int
    version: int
    at_ms: int
    events: tuple[object, ...]
    journal: tuple[bytes, ...]
    due_at_ms: int | None
    summary: bytes
    persist: "Persist"
    receipts: tuple[Receipt, ...] = ()
    plan: "Plan | None" = None


Persist: TypeAlias = Callable[[Connection, Sequence[Turn]], Awaitable[None]]
"""`async def persist(conn, turns)`: one statement per table for all turns, `unnest` rather than row by row."""

Plan: TypeAlias = Callable[[Sequence[Turn]], Sequence[Statement] | None]
"""`def plan(turns)`: what `persist` would run, if no statement of it meets a row that another one writes; else
None. Such statements can be parts of one, which commits by itself."""
