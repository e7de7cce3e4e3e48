"""A channel that is watched: where one is in it, and what has been shown and not been read yet."""

from collections import deque
from collections.abc import Callable
from typing import Literal, Self

import anyio
from anyio.lowlevel import checkpoint

from partyline.client.backoff import Backoff
from partyline.client.frames import Event, Frame, Resumed, Snapshot
from partyline.client.problem import Problem

MOST_UNREAD = 1_000
"""What a subscription holds for whoever reads it; beyond that it is shown anew, by a snapshot."""

Item = Snapshot | Event | Resumed


class Subscription:
    """What a channel shows, to be iterated over; it outlives connections.

    It is `asked` for until the service has answered, and `shown` from then on. Once more was shown than may wait it is
    `behind`: nothing more is taken, and the next read asks for it anew, so that who does not read does not ask.

    Args:
        channel: which.
        params: `mode`, `limit` and so on, as a subscribe takes them.
        most_unread: items that are held, at least 1.
        ask: called with it when it is to be shown anew.

    Attributes:
        backoff: between two times that it is asked for and refused for a moment.
    """

    def __init__(
        self,
        channel: str,
        params: dict[str, object],
        most_unread: int,
        ask: "Callable[[Subscription], None]",
    ) -> None:
        self.channel = channel
        self.backoff = Backoff()
        self._params, self._most_unread, self._ask = params, most_unread, ask
        self._place: tuple[str, int] | None = None
        self._began = False
        self._stand: Literal["asked", "shown", "behind"] = "asked"
        self._unread: deque[Item] = deque()
        self._changed = anyio.Event()
        self._is_over = False
        self._ended: Problem | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        """The next snapshot or event.

        Raises:
            Problem: the channel may not be watched, or no longer.
            StopAsyncIteration: it was closed. Cancelled, nothing is lost.
        """
        await checkpoint()
        while not self._unread:
            if self._ended is not None:
                raise self._ended
            if self._is_over:
                raise StopAsyncIteration
            if self._stand == "behind":
                self._stand = "asked"
                self._ask(self)
            if self._changed.is_set():
                self._changed = anyio.Event()
            await self._changed.wait()
        return self._unread.popleft()

    @property
    def is_asked(self) -> bool:
        """Whether an answer is awaited: what the channel shows until then is of a former subscription."""
        return self._stand == "asked"

    @property
    def is_behind(self) -> bool:
        """Whether nobody has read for too long: the next read brings a snapshot."""
        return self._stand == "behind"

    def command(self) -> dict[str, object]:
        """What watches the channel from the place that one has reached; it is asked for from now on."""
        self._stand = "asked"
        asked: dict[str, object] = {"op": "subscribe", "channel": self.channel, "params": self._params}
        if self._place is not None:
            epoch, offset = self._place
            asked["since"] = {"epoch": epoch, "offset": offset}
        return asked

    def begun(self, recovered: bool) -> None:
        """The service shows the channel over a new connection, or anew."""
        self._stand = "shown"
        self.backoff.reset()
        if self._began:
            self._resume(recovered)
        self._began = True

    def take(self, frame: Frame) -> None:
        """Take a snapshot or an event, if it is for this subscription and new."""
        if self._stand != "shown" or self._is_over or self._is_old(frame):
            return
        if frame.epoch is not None and frame.offset is not None:
            self._place = (frame.epoch, frame.offset)
        item = _shown(frame)
        if len(self._unread) >= self._most_unread:
            if isinstance(item, Event):
                self._fall_behind()
                return
            self._replace()
        self._put(item)

    def end(self, problem: Problem) -> None:
        """The channel is no longer shown; what was shown before can still be read."""
        self._ended = problem
        self._changed.set()

    def close(self) -> None:
        """Nothing more is read."""
        self._is_over = True
        self._unread.clear()
        self._changed.set()

    def _put(self, item: Item) -> None:
        self._unread.append(item)
        self._changed.set()

    def _resume(self, recovered: bool) -> None:
        """Tell it behind what is unread, room or not, as an event may follow; of several in a row the last counts."""
        if self._unread and isinstance(self._unread[-1], Resumed):
            self._unread.pop()
        self._put(Resumed(channel=self.channel, recovered=recovered))

    def _replace(self) -> None:
        """A snapshot stands for all that nobody has read, but not for what has taken over meanwhile."""
        has_resumed = any(isinstance(one, Resumed) for one in self._unread)
        self._unread.clear()
        if has_resumed:
            self._resume(False)

    def _fall_behind(self) -> None:
        """Forget what nobody has read, and the place with it: a snapshot is to follow."""
        self._place, self._stand = None, "behind"
        self._unread.clear()

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
        channel=frame.channel,
        epoch=frame.epoch,
        offset=frame.offset,
        raw=frame.data,
        event=frame.event,
        own=frame.own,
    )
