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
"""Most bytes that are kept; beyond it the least recently used answers go."""

ENTRY_BYTES = 1024
"""Counted for each entry, beside the bytes of its answer and the texts of its request."""

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
    """That there is no answer, and how long this is remembered.

    Args:
        reason: why there is none.
        upstream_status: the HTTP status of the source's answer; None where it has not answered.
        until_ms: until when the source is not asked again, epoch milliseconds.
    """

    reason: Reason
    upstream_status: int | None
    until_ms: int


@dataclass(frozen=True, slots=True)
class Body:
    """An answer.

    Args:
        content: the body of the answer.
        etag: the entity tag of the content, with its quotes.
        stored_at_ms: when the answer came, epoch milliseconds.
        fresh_ms: for how many milliseconds it is fresh from then on.
    """

    content: bytes
    etag: bytes
    stored_at_ms: int
    fresh_ms: int

    def ttl_ms(self, now_ms: int) -> int:
        """For how many milliseconds the answer is still fresh; negative once it is stale."""
        return self.stored_at_ms + self.fresh_ms - now_ms


Said: TypeAlias = Body | Failure


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one request.

    Args:
        body: the last answer, if there was one and it may still be shown.
        failure: the failure of the last request to the source; None if that has not failed.
    """

    body: Body | None
    failure: Failure | None = None

    def said(self, now_ms: int) -> Said | None:
        """The answer or failure that is returned without asking the source; None when it has to be asked."""
        if self.body is not None and self.body.ttl_ms(now_ms) > 0:
            return self.body
        if self.failure is None or self.failure.until_ms <= now_ms:
            return None
        return self.shown(now_ms) or self.failure

    def after(self, said: Said, now_ms: int) -> "Entry":
        """The entry once the source was asked: an old answer is kept only if the source was away."""
        if isinstance(said, Body):
            return Entry(said)
        return Entry(self.shown(now_ms) if said.reason is Reason.AWAY else None, said)

    def shown(self, now_ms: int) -> Body | None:
        """The answer, unless it is older than may be shown while the source is away."""
        return self.body if self.body is not None and self.body.ttl_ms(now_ms) > -STALE_MS else None


class Kept:
    """The entries of all requests, in bounded memory.

    Args:
        max_bytes: most bytes of all answers and requests together, with `ENTRY_BYTES` for each.

    Attributes:
        held_bytes: how many bytes are taken now.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.held_bytes = 0
        self._max_bytes = max_bytes
        # {request: (what is known, bytes that it takes)}, least recently used first
        self._entries: OrderedDict[Hashable, tuple[Entry, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, request: Hashable) -> Entry:
        """The entry of a request; an empty one if nothing is known of it."""
        known = self._entries.get(request)
        if known is None:
            return _UNKNOWN
        self._entries.move_to_end(request)
        return known[0]

    def put(self, request: Hashable, entry: Entry, *, request_bytes: int) -> None:
        """Keep an entry in place of the former one; the least recently used entries make room.

        Args:
            request: everything that the answer depends on.
            entry: what is known now; an entry larger than the whole bound is not kept.
            request_bytes: how many bytes the texts of the request take.
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
