"""Answers of others that are kept in memory: how long they hold, what is remembered of failures, and how many bytes all
of it may take (RFC 9111).

| known                                   | what is said                                   |
|-----------------------------------------|------------------------------------------------|
| an answer that is fresh                 | the answer                                     |
| an old answer, and that its source is away | the old answer, as long as it is not too old |
| a failure that is remembered            | the failure                                    |
| anything else                           | nothing: the source has to be asked            |
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

MAX_BYTES = 64 * 1024 * 1024
"""How many bytes are kept; beyond it those go that were not asked for for the longest time."""

ENTRY_BYTES = 1024
"""What an entry takes beside the bytes of its answer and the texts of its request."""

STALE_MS = 24 * 3600 * 1000
"""How long an answer may be shown beyond its freshness while its source is away (RFC 9111 §4.2.4, RFC 5861 §4)."""


class Reason(Enum):
    """Why there is no answer."""

    AWAY = "away"
    """The source does not answer, or not with anything that can be used."""
    NOT_FOUND = "not found"
    """The source has no such thing."""
    REFUSED = "refused"
    """The source does not take the query."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and how long that is remembered.

    Args:
        upstream_status: of HTTP, as the source has answered; None where it has not.
        until_ms: epoch milliseconds; the source is not asked again before.
    """

    reason: Reason
    upstream_status: int | None
    until_ms: int


@dataclass(frozen=True, slots=True)
class Body:
    """An answer.

    Args:
        etag: of the content, with its quotes.
        stored_at_ms: when it came; epoch milliseconds.
        fresh_ms: for how long it holds from then on.
    """

    content: bytes
    etag: bytes
    stored_at_ms: int
    fresh_ms: int

    def ttl_ms(self, now_ms: int) -> int:
        """How long it still holds; negative once it is stale."""
        return self.stored_at_ms + self.fresh_ms - now_ms


Said: TypeAlias = Body | Failure


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one request.

    Args:
        body: the last answer, if there was one and it may still be shown.
        failure: of the last try, if that has failed.
    """

    body: Body | None
    failure: Failure | None = None

    def said(self, now_ms: int) -> Said | None:
        """What is said without asking the source; None when it has to be asked."""
        if self.body is not None and self.body.ttl_ms(now_ms) > 0:
            return self.body
        if self.failure is None or self.failure.until_ms <= now_ms:
            return None
        return self.shown(now_ms) or self.failure

    def after(self, said: Said, now_ms: int) -> "Entry":
        """What is known once the source was asked and has said this: an old answer outlives nothing but its absence."""
        if isinstance(said, Body):
            return Entry(said)
        return Entry(self.shown(now_ms) if said.reason is Reason.AWAY else None, said)

    def shown(self, now_ms: int) -> Body | None:
        """The answer, unless it is so old that no failure excuses it."""
        return self.body if self.body is not None and self.body.ttl_ms(now_ms) > -STALE_MS else None


class Kept:
    """What is known by request, in bounded memory.

    Args:
        max_bytes: of all answers and requests together, with `ENTRY_BYTES` for each.

    Attributes:
        held_bytes: how many are taken now.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.held_bytes = 0
        self._max_bytes = max_bytes
        # {request: (what is known, bytes that it takes)}, least recently used first
        self._entries: OrderedDict[Hashable, tuple[Entry, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, request: Hashable) -> Entry:
        """What is known of a request; an empty entry for nothing."""
        known = self._entries.get(request)
        if known is None:
            return _UNKNOWN
        self._entries.move_to_end(request)
        return known[0]

    def put(self, request: Hashable, entry: Entry, *, request_bytes: int) -> None:
        """Keep what is known, in place of what was; the least recently used make room.

        Args:
            request: all that the answer depends on.
            entry: one that is larger than the whole bound is not kept.
            request_bytes: what the texts of the request take.
        """
        _, former_bytes = self._entries.pop(request, (None, 0))
        content_bytes = 0 if entry.body is None else len(entry.body.content)
        entry_bytes = ENTRY_BYTES + request_bytes + content_bytes
        self._entries[request] = entry, entry_bytes
        self.held_bytes += entry_bytes - former_bytes
        while self.held_bytes > self._max_bytes:
            _, (_, dropped_bytes) = self._entries.popitem(last=False)
            self.held_bytes -= dropped_bytes


_UNKNOWN = Entry(None)
