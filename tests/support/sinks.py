"""Sockets and envelopes for tests of the fan-out: frames that arrive can be read back, and a socket can be full."""

import json
from typing import Any

import msgspec

from actors.kernel.sink import Lagging, Prepared


class JsonEnvelope:
    """Every frame is one JSON object, so that tests can read it; counts what it encodes."""

    def __init__(self) -> None:
        self.encoded = 0

    def _prepare(self, frame: dict[str, Any]) -> Prepared:
        self.encoded += 1
        payload = msgspec.json.encode(frame)
        return Prepared((payload,), payload + b"\n")

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:
        return self._prepare(
            {
                "type": "snapshot",
                "channel": channel,
                "epoch": epoch,
                "offset": offset,
                "skipped": skipped,
                "data": data,
            }
        )

    def event(
        self, channel: str, epoch: str, offset: int | None, name: str, data: object, *, self_: object | None
    ) -> Prepared:
        return self._prepare(
            {
                "type": "event",
                "channel": channel,
                "epoch": epoch,
                "offset": offset,
                "event": name,
                "data": data,
                "self": self_,
            }
        )


class Socket:
    """A sink with a kernel buffer of `room` sends and a queue of `bound` behind it, as a real one has.

    Args:
        room: how many sends it takes before it is full; None for a reader that never stops.
        bound: how many sends may wait behind a full buffer.
    """

    def __init__(self, room: int | None = None, bound: int = 4) -> None:
        self.room = room
        self.bound = bound
        self.sends: list[Prepared] = []
        self.waiting: list[Prepared] = []
        self.lagging: dict[Lagging, None] = {}
        self.ended: list[tuple[str, str]] = []
        self.opened: list[tuple[str, int, bool]] = []
        self.most_waiting = 0

    @property
    def clear(self) -> bool:
        return not self.waiting and (self.room is None or len(self.sends) < self.room)

    def offer(self, prepared: Prepared) -> bool:
        if self.clear:
            self.sends.append(prepared)
            return True
        if len(self.waiting) >= self.bound:
            return False
        self.waiting.append(prepared)
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        return True

    def notify_when_writable(self, lagging: Lagging) -> None:
        self.lagging[lagging] = None

    def end(self, channel: str, code: str) -> None:
        self.ended.append((channel, code))

    def make_room(self, room: int | None) -> None:
        """Let the client read: waiting sends go out, then subscriptions that lag behind catch up, in order."""
        self.room = None if room is None else len(self.sends) + room
        while self.waiting and (self.room is None or len(self.sends) < self.room):
            self.sends.append(self.waiting.pop(0))
        while self.lagging and self.clear:
            lagging = next(iter(self.lagging))
            del self.lagging[lagging]
            lagging.catch_up()

    def on_opened(self, epoch: str, offset: int, recovered: bool) -> None:
        assert not self.frames, "opened comes before the first frame"
        self.opened.append((epoch, offset, recovered))

    @property
    def frames(self) -> list[dict[str, Any]]:
        """Everything that arrived, decoded."""
        return [json.loads(payload) for prepared in self.sends for payload in prepared.payloads]

    @property
    def offsets(self) -> list[int]:
        """The offsets of the events that arrived, in order."""
        return [
            frame["offset"]
            for frame in self.frames
            if frame["type"] == "event" and frame["offset"] is not None
        ]
