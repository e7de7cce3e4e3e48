"""A game server's state: immutable, and of rows alone, so that a snapshot has nothing to add.

What comes later (commands, settings, members, access policy) finds its place as further fields of `State`, with rules
and rows of their own.
"""

from collections.abc import Mapping

import msgspec

from persistence.connect.rows import ServerRow, SessionRow, TicketRow

CLAIM_KEYS_KEPT = 16
"""A server has at most so many claim keys at a time; a newer one ends the oldest."""

TICKET_KEPT_MS = 10 * 60_000
"""So long after its end a ticket is told from one that never was (410, not 404)."""


class State(msgspec.Struct, frozen=True):
    """A game server.

    Args:
        row: what its own row holds.
        claim_keys: {SHA-256: when it ends}, oldest first; those of before are forgotten.
        tickets: {user id: their newest join ticket}.
        sessions: {user id: their session}, the first to end first.
        removed: it is gone; whatever is asked of it is refused.
    """

    row: ServerRow
    claim_keys: Mapping[bytes, int]
    tickets: Mapping[str, TicketRow]
    sessions: Mapping[str, SessionRow]
    removed: bool = False

    @property
    def id(self) -> str:
        """The server's id."""
        return self.row.server_id
