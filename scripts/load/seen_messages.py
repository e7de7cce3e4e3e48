"""Reads bytes that many sockets of one worker receive alike only once, without which a Python client would not keep up
with a fan-out.

A thousand subscribers of one conversation receive the same bytes, in the same pieces as a rule. The first that
arrives is parsed; for the others the whole piece is looked up, which compares every byte. Only what is whole
frames of events of one channel, without a gap between their offsets, is remembered; everything else is parsed
where it arrives.
"""

import msgspec

from scripts.load.clients.websocket import whole_messages

MARK = "load "  # how the text of our messages begins: load <run> <sender> <number> <due, ns>
_MOST = 256  # pieces that are remembered; then all are forgotten, because a piece is only alike for a moment
_EVENT = b'{"type":"event"'

Message = tuple[str, int, int, int]
"""(sender, number, when it was due in ns, size of its payload in bytes)"""


class _Body(msgspec.Struct):
    content: str = ""


class _Event(msgspec.Struct):
    type: str
    channel: str = ""
    offset: int = -1
    event: str = ""
    data: _Body | None = None


_decode = msgspec.json.Decoder(_Event).decode


class Piece(msgspec.Struct, frozen=True):
    """Some events of one channel that arrived together.

    Args:
        channel: the name of the channel.
        first, last: the offsets of the first and last event; all between are there.
        messages: the messages of this run, in order.
    """

    channel: str
    first: int
    last: int
    messages: tuple[Message, ...]


class SeenMessages:
    """The pieces that have arrived lately.

    Args:
        run: marks the messages that count.
    """

    def __init__(self, run: str) -> None:
        self._run = run
        self._pieces: dict[bytes, Piece] = {}

    def look_up(self, data: bytes) -> Piece | None:
        """The events in a piece, if it has nothing else; None when it has to be parsed frame by frame."""
        piece = self._pieces.get(data)
        if piece is None and (piece := self._read(data)) is not None:
            if len(self._pieces) >= _MOST:
                self._pieces.clear()
            self._pieces[data] = piece
        return piece

    def _read(self, data: bytes) -> Piece | None:
        channel, first, last = "", -1, -1
        messages: list[Message] = []
        for payload in whole_messages(data):
            if not payload.startswith(_EVENT):
                return None
            event = _decode(payload)
            if event.offset < 0 or (channel and (event.channel != channel or event.offset != last + 1)):
                return None
            if not channel:
                channel, first = event.channel, event.offset
            last = event.offset
            if (
                message := our_message(event.event, event.data.content if event.data else "", self._run)
            ) is not None:
                messages.append((*message, len(payload)))
        return Piece(channel, first, last, tuple(messages)) if channel else None


def our_message(event: str, content: str, run: str) -> tuple[str, int, int] | None:
    """(sender, number, due ns) of a message that this run sent; None for any other event."""
    if event != "message_created" or not content.startswith(MARK):
        return None
    _, whose, sender, number, due, _ = content.split(" ", 5)
    return (sender, int(number), int(due)) if whose == run else None
