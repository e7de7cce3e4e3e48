"""Read the bytes of strangers piece by piece."""

from typing import Literal

import msgspec

Kind = Literal["status", "login", "transfer", "legacy", "tls"]


class Opening(msgspec.Struct, frozen=True):
    """What a connection begins with.

    Args:
        kind: a Minecraft client's next state, a ping from before Minecraft 1.7, or TLS.
        host: the host that the client wants, in the form that routes have; None where it names none, or no valid one.
    """

    kind: Kind
    host: str | None


class Malformed(Exception):
    """These bytes are nothing that we carry, whatever follows."""


class Short(Exception):
    """There are not enough bytes yet."""


class Pieces:
    """Bytes, taken from the front.

    Args:
        data: all bytes that there are.
    """

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self.at = 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self.at

    def take(self, size: int) -> bytes:
        """The next bytes; raises Short where there are fewer."""
        if self.left < size:
            raise Short
        self.at += size
        return bytes(self._data[self.at - size : self.at])

    def number(self, size: int) -> int:
        """A number of so many bytes, the highest first; raises Short where there are fewer."""
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> "Pieces":
        """The block behind a number of `size` bytes that says how long the block is; raises Short where there are fewer
        bytes."""
        return Pieces(self.take(self.number(size)))

    def varint(self, most_bytes: int) -> int:
        """Minecraft's VarInt, which is not negative here.

        Raises:
            Short: it goes on behind the bytes that there are.
            Malformed: it has more than `most_bytes` bytes.
        """
        value = 0
        for place in range(most_bytes):
            byte = self.number(1)
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise Malformed("a number without an end")
