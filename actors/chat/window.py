"""The newest messages of a conversation: an immutable sequence that is extended without being copied.

States are immutable, and each message makes a new one. Versions of a window share one list; each sees its own slice
of it, and only the newest version may append to it. So a message costs one place in a list, where copying 120
references touches 120 objects that are in no cache (10 of 40 µs a message in a thousand conversations). The list is
copied when another version has already appended to it, which happens when a turn was not committed, and when it holds
so many messages older than the window that they cost memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import overload

import msgspec

from actors.pages import MAX_PAGE_BYTES

WINDOW_LINES = 120
"""Most messages in memory: the largest page (service description §8), so that a frame never waits for rows."""

WINDOW_BYTES = MAX_PAGE_BYTES
"""Most bytes of records in memory; the newest message is kept whatever its size. Messages beyond it are read from rows,
as older ones are. 120 messages of ordinary length take a tenth of it."""

PASSED_LINES, PASSED_BYTES = 32, WINDOW_BYTES // 4
"""How much of the shared list may be older than the window, a quarter of it, before the list is copied."""


class Line(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A message in memory.

    Args:
        seq: 1, 2, 3… within the conversation; 0 for archived history.
        record: the message's public JSON, with every `selected` false.
        has_poll: the message has a poll.
        poll_open: that poll has not been closed, although it may have expired.
        poll_expires_at_ms: the deadline of an open poll that has one.
        attachment_ids: ids of its attachments.
    """

    id: str
    seq: int
    created_at_ms: int
    sender_id: str
    client_message_id: str | None
    record: bytes
    has_poll: bool = False
    poll_open: bool = False
    poll_expires_at_ms: int | None = None
    attachment_ids: tuple[str, ...] = ()


def _places(lines: Sequence[Line]) -> dict[str, int]:
    """{clientMessageId: place in the list of the newest message that carries it}."""
    return {
        line.client_message_id: place
        for place, line in enumerate(lines)
        if line.client_message_id is not None
    }


class Window(Sequence[Line]):
    """The newest 120 messages or fewer, oldest first; equal to any sequence of the same lines.

    Args:
        lines: oldest first; the oldest are left out while there are more than 120, or more than `WINDOW_BYTES` of
            records.
    """

    __slots__ = ("_end", "_lines", "_passed_bytes", "_places", "_start", "size_bytes")

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._lines = list(lines)
        self._start = 0
        self._end = len(self._lines)
        self._passed_bytes = 0
        self.size_bytes = sum(len(line.record) for line in self._lines)
        """Bytes of the records of its messages."""
        self._places = _places(self._lines)
        self._pass()

    def with_newest(self, line: Line) -> "Window":
        """Return the window with one more message; the oldest are dropped until it is within its bounds."""
        # An empty window may be the one that all new conversations begin with.
        own = 0 < self._end == len(self._lines) and self._start < PASSED_LINES
        base = self if own and self._passed_bytes < PASSED_BYTES else self._alone()
        longer = Window.__new__(Window)
        longer._lines, longer._places = base._lines, base._places
        if line.client_message_id is not None:
            base._places[line.client_message_id] = base._end
        base._lines.append(line)
        longer._start, longer._end = base._start, base._end + 1
        longer._passed_bytes = base._passed_bytes
        longer.size_bytes = base.size_bytes + len(line.record)
        if longer._end - longer._start > WINDOW_LINES or longer.size_bytes > WINDOW_BYTES:
            longer._pass()
        return longer

    def _alone(self) -> "Window":
        """The same window with a list of its own, which holds no older messages."""
        alone = Window.__new__(Window)
        alone._lines = self._lines[self._start : self._end]
        alone._start, alone._end = 0, len(alone._lines)
        alone._passed_bytes, alone.size_bytes = 0, self.size_bytes
        alone._places = _places(alone._lines)
        return alone

    def _pass(self) -> None:
        """Move the start past the oldest messages that exceed the bounds."""
        while self._end - self._start > WINDOW_LINES or (
            self.size_bytes > WINDOW_BYTES and self._end - self._start > 1
        ):
            passed_bytes = len(self._lines[self._start].record)
            self._passed_bytes += passed_bytes
            self.size_bytes -= passed_bytes
            self._start += 1

    def left_before(self, later: "Window") -> Sequence[Line]:
        """List the messages of this window, oldest first, that a later version of it no longer holds."""
        if later._lines is self._lines and later._start == self._start:
            return ()
        oldest_seq = later._lines[later._start].seq if later._end > later._start else 0
        lines, at = self._lines, self._start
        while at < self._end and lines[at].seq < oldest_seq:
            at += 1
        return lines[self._start : at] if at > self._start else ()

    def with_changed(self, line: Line) -> "Window":
        """Return the window with a message replaced by this version, matched by id; unchanged if it is not in here."""
        return Window(line if one.id == line.id else one for one in self)

    def said(self, sender_id: str, client_message_id: str) -> Line | None:
        """Find the message that a sender has sent with this `clientMessageId`; None without one."""
        place = self._places.get(client_message_id)
        if place is None or place < self._start:
            return None
        if place < self._end and self._lines[place].sender_id == sender_id:
            return self._lines[place]
        # Another sender has used the same id since, or a version of the window that was not committed has.
        for line in reversed(self):
            if line.client_message_id == client_message_id and line.sender_id == sender_id:
                return line
        return None

    def __len__(self) -> int:
        return self._end - self._start

    def __iter__(self) -> Iterator[Line]:
        return islice(self._lines, self._start, self._end)

    def __reversed__(self) -> Iterator[Line]:
        lines = self._lines
        return (lines[place] for place in range(self._end - 1, self._start - 1, -1))

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return [self._lines[self._start + place] for place in range(start, stop, step)]
        return self._lines[range(self._start, self._end)[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Window({list(self)!r})"


NO_MESSAGES = Window()
"""The window of a new conversation."""


def _same(one: Line, other: object) -> bool:
    return one == other
