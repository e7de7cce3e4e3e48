"""Clients that watch: they follow what arrives, read slowly at times, are cut off, and come back where they were."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import msgspec

from actors.chat.commands import ChatViewer
from actors.kernel.subscription import Subscription, WatchRequest
from tests.support.sinks import JsonEnvelope, Socket

LIMIT = 6
"""Messages in a snapshot."""

ENVELOPE = JsonEnvelope()

Shown = Literal["conversation", "inbox", "party"]

_decode = msgspec.json.Decoder().decode


@dataclass(slots=True, eq=False)
class Viewer:
    """One client with one subscription.

    Args:
        shows: a conversation, or the user's own inbox or party.
        gone: the texts that nobody may be shown any more.
        complain: told of what must not be.

    Attributes:
        node: the process that it is connected to.
        subscription: None while it is cut off.
        seen: what it knows, as far as it has read.
    """

    user_id: str
    id: str
    mode: Literal["snapshot", "delta"]
    shows: Shown
    gone: Callable[[], Iterable[bytes]]
    complain: Callable[[str], None]
    socket: Socket = field(default_factory=Socket)
    node: object = None
    subscription: Subscription | None = None
    coming: bool = False
    read: int = 0
    seen: dict[str, Any] | None = None
    epoch: str = ""
    offset: int = 0
    replays: bool = False

    @property
    def name(self) -> str:
        return f"{self.user_id[:4]}/{self.id[-2:]}/{self.mode}"

    def request(self, rng: Random, owns: Callable[[], bool]) -> WatchRequest:
        """Come back: mostly from where it is, on a new socket."""
        self.catch_up()
        since = (self.epoch, self.offset) if self.seen is not None and rng.random() < 0.8 else None
        self.socket, self.read = ScreenedSocket(self, owns), 0
        return WatchRequest(
            sink=self.socket,
            viewer=self._as_viewer(),
            channel=self.id,
            envelope=ENVELOPE,
            mode=self.mode,
            opened=self._opened,
            since=since,
        )

    def _as_viewer(self) -> Any:
        match self.shows:
            case "inbox" | "party":
                return self.user_id
            case _:
                return ChatViewer(self.user_id, LIMIT)

    def _opened(self, epoch: str, offset: int, recovered: bool) -> None:
        if recovered and (epoch != self.epoch or self.offset > offset):
            self.complain(
                f"{self.name} at {self.epoch} {self.offset} is said to have missed nothing at {epoch} {offset}"
            )
        self.replays = recovered

    def cut(self) -> None:
        """Its connection is gone."""
        if self.subscription is not None:
            self.subscription.close()
            self.subscription = None

    def catch_up(self) -> None:
        """Read what has arrived."""
        sends = self.socket.sends
        while self.read < len(sends):
            prepared = sends[self.read]
            self.read += 1
            for payload in prepared.payloads:
                self._take(_decode(payload))
        if self.socket.ended:
            self.subscription = None

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "snapshot":
            if frame["epoch"] == self.epoch and frame["offset"] < self.offset:
                self.complain(f"{self.name} is sent back from {self.offset} to {frame['offset']}")
            self.seen, self.epoch, self.offset = frame["data"], frame["epoch"], frame["offset"]
            return
        if frame["offset"] is not None:
            if frame["epoch"] != self.epoch or frame["offset"] != self.offset + 1:
                self.complain(
                    f"{self.name} at {self.offset} is told of {frame['offset']}: a gap, or a repeat"
                )
            self.offset = frame["offset"]
        if self.seen is None:
            self.complain(f"{self.name} is told of an event before a snapshot")
            return
        self.seen = _FOLDS[self.shows](self.seen, frame["event"], frame["data"], frame["self"])


class ScreenedSocket(Socket):
    """A socket of a conversation, which is never sent what is gone.

    Args:
        viewer: whose it is.
        owns: whether its process is the owner; one that is not, and does not know yet, may show what was.
    """

    def __init__(self, viewer: Viewer, owns: Callable[[], bool]) -> None:
        super().__init__()
        self.viewer = viewer
        self.owns = owns

    def offer(self, prepared: Any) -> bool:
        viewer = self.viewer
        if viewer.shows == "conversation" and self.owns():
            for text in viewer.gone():
                if text in prepared.wire:
                    viewer.complain(f"{viewer.name} is sent {text.decode()} after it was gone")
        return super().offer(prepared)


def _fold(seen: dict[str, Any], event: str, data: Any, own: Any) -> dict[str, Any]:
    items = seen["items"]
    match event:
        case "message_created":
            return {**seen, "items": [*items, data][-LIMIT:]}
        case "message_edited" | "message_deleted" | "poll_updated":
            choose(data, () if own is None else own["selected"])
            return {**seen, "items": [data if one["id"] == data["id"] else one for one in items]}
        case "conversation_updated":
            return {**seen, "conversation": data}
        case _:
            return seen


def _fold_inbox(seen: dict[str, Any], event: str, data: Any, _own: Any) -> dict[str, Any]:
    if event != "conversation_updated":
        return seen
    others = [one for one in seen["conversations"] if one["id"] != data["id"]]
    return {**seen, "conversations": others if data.get("removed") else [*others, data]}


def _fold_party(seen: dict[str, Any], event: str, data: Any, _own: Any) -> dict[str, Any]:
    return data if event == "party_updated" else seen


_FOLDS = {"conversation": _fold, "inbox": _fold_inbox, "party": _fold_party}


def choose(message: dict[str, Any], selected: Any) -> None:
    """Show these options of a message's poll as chosen."""
    for option in (message["poll"] or {}).get("options", ()):
        option["selected"] = option["id"] in selected


def comparable(viewer: Viewer, seen: dict[str, Any]) -> Any:
    """What of a client's picture must equal a fresh one: all that its frames told it of."""
    if viewer.shows == "inbox":
        return sorted(seen["conversations"], key=lambda one: one["id"])
    if viewer.shows == "party" or viewer.mode == "snapshot":
        return seen
    head = seen["conversation"]
    kept = {name: head[name] for name in ("title", "ownerId", "participantCount")}
    return kept, [one["id"] for one in head["participants"]], seen["items"]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of all that is in a JSON value, so that a difference can be named."""
    if isinstance(value, dict | list | tuple):
        yield path, len(value)
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(part, f"{path}/{name}")
    else:
        yield path, value
