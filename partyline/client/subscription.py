"""A channel that is watched: where one is in it, and what has been shown and not been read yet."""

from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from partyline.client.frames import Event, Frame, Resumed, Snapshot
from partyline.client.problem import Problem

MOST_UNREAD = 1_000
"""What a subscription holds for whoever reads it; beyond that it is shown anew, by a snapshot."""

Item = Snapshot | Event | Resumed


class Subscription:
    """What a channel shows, to be iterated over; it outlives connections.

    Args:
        channel: which.
        params: `mode`, `limit` and so on, as a subscribe takes them.
        most_unread: items that are held.
    """

    def __init__(self, channel: str, params: dict[str, object], most_unread: int = MOST_UNREAD) -> None:
        self.channel = channel
        self._params = params
        self._place: tuple[str, int] | None = None
        self._began = False
        self._is_behind = False
        self._ended: Problem | None = None
        self._send: MemoryObjectSendStream[Item]
        self._receive: MemoryObjectReceiveStream[Item]
        self._send, self._receive = anyio.create_memory_object_stream[Item](most_unread)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        """The next snapshot or event.

        Raises:
            Problem: the channel may not be watched, or no longer.
            StopAsyncIteration: it was closed. Cancelled, nothing is lost.
        """
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            if self._ended is not None:
                raise self._ended from None
            raise StopAsyncIteration from None
        except anyio.ClosedResourceError:
            raise StopAsyncIteration from None

    @property
    def is_behind(self) -> bool:
        """Whether a snapshot is awaited, since nobody has read for too long."""
        return self._is_behind

    def command(self) -> dict[str, object]:
        """What watches the channel from the place that one has reached."""
        asked: dict[str, object] = {"op": "subscribe", "channel": self.channel, "params": self._params}
        if self._place is not None:
            epoch, offset = self._place
            asked["since"] = {"epoch": epoch, "offset": offset}
        return asked

    def begun(self, recovered: bool) -> None:
        """The service shows the channel over a new connection, or anew."""
        self._is_behind = False
        if self._began:
            self._put(Resumed(channel=self.channel, recovered=recovered))
        self._began = True

    def take(self, frame: Frame) -> bool:
        """Take a snapshot or an event; False where there is no room: the channel is to be shown anew."""
        if self._is_behind or self._is_old(frame):
            return True
        if frame.epoch is not None and frame.offset is not None:
            self._place = (frame.epoch, frame.offset)
        return self._put(_shown(frame))

    def end(self, problem: Problem) -> None:
        """The channel is no longer shown; what was shown before can still be read."""
        self._ended = problem
        self._send.close()

    def close(self) -> None:
        """Nothing more is read."""
        self._send.close()
        self._receive.close()

    def _put(self, item: Item) -> bool:
        try:
            self._send.send_nowait(item)
        except anyio.WouldBlock:
            self._fall_behind()
            return False
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return True
        return True

    def _fall_behind(self) -> None:
        """Forget what nobody has read, and the place with it: a snapshot is to follow."""
        self._place, self._is_behind = None, True
        while self._receive.statistics().current_buffer_used:
            self._receive.receive_nowait()

    def _is_old(self, frame: Frame) -> bool:
        """Whether an event was seen already, over another connection."""
        return (
            frame.type == "event"
            and self._place is not None
            and frame.offset is not None
            and frame.epoch == self._place[0]
            and frame.offset <= self._place[1]
        )


def _shown(frame: Frame) -> Item:
    if frame.type == "snapshot":
        return Snapshot(
            channel=frame.channel,
            epoch=frame.epoch,
            offset=frame.offset,
            raw=frame.data,
            skipped=frame.skipped,
        )
    return Event(
        channel=frame.channel, epoch=frame.epoch, offset=frame.offset, raw=frame.data, event=frame.event
    )
