"""A channel that is watched: the place that was reached in it, and the items that were not read yet."""

from collections import deque
from collections.abc import Callable
from typing import Literal, Self

import anyio
from anyio.lowlevel import checkpoint

from partyline.client.backoff import Backoff
from partyline.client.frames import Event, Frame, Resumed, Snapshot
from partyline.client.problem import ClientError

MOST_UNREAD = 1_000
"""Most items that a subscription holds for its reader; beyond that the reader gets a snapshot instead."""

Item = Snapshot | Event | Resumed


class Subscription:
    """The snapshots and events of a channel, to be iterated over; a subscription outlives connections.

    It is `asked` until the service has answered the subscribe, and `shown` from then on. Once more has come than may
    wait to be read, it is `behind`: no item is taken any more, and the next read subscribes anew, so that a client
    which does not read does not subscribe again and again.

    Args:
        channel: the channel's name, such as `inbox`.
        params: `mode`, `limit` and so on, as the command `subscribe` takes them.
        most_unread: most items that wait to be read, at least 1.
        ask: called with this subscription when it is to be subscribed anew.

    Attributes:
        backoff: the pauses between two subscribes that are refused for the moment.
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
        self._ended: ClientError | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        """The next snapshot or event.

        Raises:
            Problem: the user may not watch the channel, or may no longer.
            Unreachable: the client was closed.
            StopAsyncIteration: the subscription was closed. Cancelled, no item is lost.
        """
        await checkpoint()
        while not self._unread:
            if self._ended is not None:
                raise self._ended.with_traceback(None)  # else it keeps the frames of each time
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
        """Whether the answer to a subscribe is awaited: frames that come before it belong to a former subscription."""
        return self._stand == "asked"

    @property
    def is_behind(self) -> bool:
        """Whether nobody has read for so long that items were dropped: the next read brings a snapshot."""
        return self._stand == "behind"

    def command(self) -> dict[str, object]:
        """The command that subscribes to the channel from the place that was reached; the subscription is `asked` from
        now on."""
        self._stand = "asked"
        asked: dict[str, object] = {"op": "subscribe", "channel": self.channel, "params": self._params}
        if self._place is not None:
            epoch, offset = self._place
            asked["since"] = {"epoch": epoch, "offset": offset}
        return asked

    def begun(self, recovered: bool) -> None:
        """Take the answer that the service shows the channel from here on.

        Args:
            recovered: whether all events since the place that was reached follow; else a snapshot does.
        """
        self._stand = "shown"
        self.backoff.reset()
        if self._began:
            self._resume(recovered)
        self._began = True

    def take(self, frame: Frame) -> None:
        """Take a snapshot or an event, unless it belongs to a former subscription or was taken already."""
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

    def end(self, why: ClientError) -> None:
        """Note that the channel is no longer shown, and why; items that came before can still be read."""
        self._ended = why
        self._changed.set()

    def close(self) -> None:
        """End the iteration; items that were not read are dropped."""
        self._is_over = True
        self._unread.clear()
        self._changed.set()

    def _put(self, item: Item) -> None:
        self._unread.append(item)
        self._changed.set()

    def _resume(self, recovered: bool) -> None:
        """Put a `Resumed` behind the unread items, even beyond the bound, as an event may follow; of several in a row
        only the last is kept."""
        if self._unread and isinstance(self._unread[-1], Resumed):
            self._unread.pop()
        self._put(Resumed(channel=self.channel, recovered=recovered))

    def _replace(self) -> None:
        """Drop the unread items, for which a snapshot stands, but not the word that a new connection has taken over."""
        has_resumed = any(isinstance(one, Resumed) for one in self._unread)
        self._unread.clear()
        if has_resumed:
            self._resume(False)

    def _fall_behind(self) -> None:
        """Drop the unread items, and forget the place that was reached, so that a snapshot follows."""
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
