"""One user's socket on `/v1/social/live`: its subscriptions, the messages it has sent, and what it was shown."""

import socket
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.websocket import WebSocket, upgrade
from scripts.load.seen_messages import Message, SeenMessages, our_message

TARGET = "/v1/social/live"
NO_CHANNELS, DEFAULT_CHANNELS = "?channels=", ""  # queries that say what a socket subscribes to as it opens
REPLY_SECONDS = 30


class _Body(msgspec.Struct):
    content: str = ""


class _Error(msgspec.Struct):
    code: str = "?"
    message: str = ""


class _Frame(msgspec.Struct):
    """The fields of a server frame that matter here; all others are skipped while parsing."""

    type: str
    id: int | None = None
    ok: bool = False
    channel: str = ""
    offset: int | None = None
    event: str = ""
    code: str = ""
    data: _Body | None = None
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Frame).decode
_encode = msgspec.json.Encoder().encode


class SubscribeRefused(Exception):
    """The server has refused a subscribe; the message holds the code."""


class Track:
    """What one subscription was shown so far."""

    __slots__ = ("conversation", "disordered", "last", "offset", "received", "repeated", "skipped")

    def __init__(self, conversation: int, offset: int) -> None:
        self.conversation = conversation
        self.offset = offset
        self.received = 0
        self.repeated = 0
        self.disordered = 0
        self.skipped = 0
        self.last: dict[str, int] = {}  # {sender: number of the newest message}


class Ledger(Protocol):
    """Counts what clients see."""

    seen_messages: SeenMessages
    run_mark: str

    def answered(self, conversation: int, due_ns: int, code: str | None) -> None:
        """A message was acknowledged (`code` None) or refused."""

    def delivered(self, conversation: int, messages: Sequence[Message]) -> None:
        """Messages of this run arrived at a subscription."""

    def skipped(self, track: Track, events: int) -> None:
        """A snapshot stood for so many events."""

    def fault(self, code: str) -> None:
        """Something else went wrong, with this code."""


class Client(WebSocket):
    """An open socket of one user."""

    def __init__(
        self, loop: EventLoop, sock: socket.socket, rest: bytes, *, user: int, ledger: Ledger
    ) -> None:
        self.user = user
        self.ledger = ledger
        self.tracks: dict[str, Track] = {}  # {channel: track}
        self.pending: dict[int, tuple[int, int]] = {}  # {command id: (conversation, due ns)}
        self._replies: dict[int, Callable[[_Frame], None]] = {}
        self._next_id = 0
        super().__init__(loop, sock, rest)

    def post(self, channel: str, conversation: int, text: str, due_ns: int) -> None:
        """Send one message; the ledger hears of the answer."""
        self._next_id += 1
        self.pending[self._next_id] = (conversation, due_ns)
        data = {"content": text}
        self.say(_encode({"id": self._next_id, "op": "send", "channel": channel, "data": data}))

    async def subscribe(
        self, channel: str, conversation: int, mode: str = "delta", *, former: Track | None = None
    ) -> None:
        """Subscribe to a conversation.

        Args:
            channel: `conversation:<id>`.
            conversation: the conversation's number in the plan.
            mode: `delta` for events, `snapshot` for whole states.
            former: what the user's lost socket was shown, with which the subscription goes on; messages that came
                meanwhile count as skipped.

        Raises:
            SubscribeRefused: the server has refused, or not answered for 30 s.
        """
        self._next_id += 1
        done = trio.Event()
        frames: list[_Frame] = []

        def replied(frame: _Frame) -> None:
            if frame.ok and frame.offset is not None:
                # At once, before the next frame is read, which may already be an event of this channel.
                self.tracks[channel] = self._begun(conversation, frame.offset, former)
            frames.append(frame)
            done.set()

        self._replies[self._next_id] = replied
        command = {
            "id": self._next_id,
            "op": "subscribe",
            "channel": channel,
            "params": {"mode": mode, "limit": 1},
        }
        self.say(_encode(command))
        with trio.move_on_after(REPLY_SECONDS):
            await done.wait()
        if channel not in self.tracks:
            error = frames[0].error if frames else None
            why = f"{error.code}: {error.message}" if error else self.closed or "no reply"
            raise SubscribeRefused(f"user {self.user} cannot subscribe to {channel}: {why}")

    def _begun(self, conversation: int, offset: int, former: Track | None) -> Track:
        if former is None:
            return Track(conversation, offset)
        if offset > former.offset:
            self.ledger.skipped(former, offset - former.offset)
            former.offset = offset
        return former

    def heard(self, data: bytes) -> None:
        """Take bytes that have arrived, which are most often the same that other sockets receive."""
        # Until the greeting and the replies have come, pieces may end in the middle of a frame.
        if (
            not self._buffer
            and self.tracks
            and (piece := self.ledger.seen_messages.look_up(data)) is not None
        ):
            track = self.tracks.get(piece.channel)
            if track is not None and piece.first == track.offset + 1:
                track.offset = piece.last
                self._arrived(track, piece.messages)
                return
        super().heard(data)

    def message(self, payload: bytes) -> None:
        """Take a frame of the server."""
        frame = _decode(payload)
        if frame.type == "event":
            self._event(frame, len(payload))
        elif frame.type == "reply":
            self._reply(frame)
        elif frame.type == "snapshot":
            track = self.tracks.get(frame.channel)
            if track is not None and frame.offset is not None and frame.offset > track.offset:
                self.ledger.skipped(track, frame.offset - track.offset)
                track.offset = frame.offset
        elif frame.type in ("unsubscribed", "reconnect"):
            self.ledger.fault(frame.code or frame.type)

    def lost(self, why: str) -> None:
        """Count messages in flight as lost: they get no answer any more."""
        pending, self.pending = self.pending, {}
        replies, self._replies = self._replies, {}
        for replied in replies.values():
            replied(_Frame(type="reply"))
        for conversation, due_ns in pending.values():
            self.ledger.answered(conversation, due_ns, "CONNECTION_LOST")
        if why != "done":
            self.ledger.fault(why)

    def _reply(self, frame: _Frame) -> None:
        if frame.id is None:
            self.ledger.fault(frame.error.code if frame.error else "REPLY_WITHOUT_ID")
        elif (sent := self.pending.pop(frame.id, None)) is not None:
            code = None if frame.ok else frame.error.code if frame.error else "?"
            self.ledger.answered(*sent, code)
        elif (replied := self._replies.pop(frame.id, None)) is not None:
            replied(frame)

    def _event(self, frame: _Frame, size: int) -> None:
        track = self.tracks.get(frame.channel)
        if track is None or frame.offset is None:
            return  # the events of typing and reading have no offset
        if frame.offset != track.offset + 1:
            if frame.offset <= track.offset:
                track.repeated += 1
                return
            track.disordered += 1
        track.offset = frame.offset
        message = our_message(frame.event, frame.data.content if frame.data else "", self.ledger.run_mark)
        if message is not None:
            self._arrived(track, ((*message, size),))

    def _arrived(self, track: Track, messages: Sequence[Message]) -> None:
        """Note messages of this run; those of a sender must arrive in the order in which they were sent."""
        last = track.last
        for sender, number, _, _ in messages:
            if number <= last.get(sender, -1):
                track.disordered += 1
            last[sender] = number
        track.received += len(messages)
        self.ledger.delivered(track.conversation, messages)


async def connect_client(
    loop: EventLoop,
    address: tuple[str, int],
    host: str,
    token: str,
    *,
    user: int,
    ledger: Ledger,
    channels: str = NO_CHANNELS,
) -> Client:
    """Open the socket of one user.

    Args:
        channels: `NO_CHANNELS` or `DEFAULT_CHANNELS`.

    Raises:
        UpgradeRefused, OSError: the server does not let the user in.
    """
    sock, rest = await upgrade(address, host, TARGET + channels, token)
    return Client(loop, sock, rest, user=user, ledger=ledger)


async def connect_again(
    former: Client,
    address: tuple[str, int],
    host: str,
    token: str,
    *,
    channels: str = NO_CHANNELS,
    mode: str = "delta",
) -> Client:
    """Open the socket of a user whose former one was lost, with its subscriptions.

    Args:
        former: the socket that was lost.
        channels, mode: those of the former socket.

    Raises:
        UpgradeRefused, SubscribeRefused, OSError: the server does not let the user in. Cancellation closes the socket.
    """
    client = await connect_client(
        former.loop, address, host, token, user=former.user, ledger=former.ledger, channels=channels
    )
    try:
        for channel, track in former.tracks.items():
            await client.subscribe(channel, track.conversation, mode, former=track)
    except BaseException:
        client.close()
        raise
    return client
