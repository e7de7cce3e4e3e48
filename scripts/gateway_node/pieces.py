"""Reading bytes of strangers piece by piece, and what may come out of it."""

from typing import Literal

import msgspec

Kind = Literal["status", "login", "transfer", "legacy", "tls"]


class Opening(msgspec.Struct, frozen=True):
    """What a connection begins with.

    Args:
        kind: a Minecraft client's next state, a ping from before Minecraft 1.7, or TLS.
        host: that it wants, as routes name hosts; None where it says none, or no name of a host.
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
        data: all that there is.
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
        """As many bytes as a number of `size` bytes in front of them says; raises Short where there are fewer."""
        return Pieces(self.take(self.number(size)))

    def varint(self, most_bytes: int) -> int:
        """Minecraft's VarInt, which is not negative here.

        Raises:
            Short: it goes on.
            Malformed: it has more than `most_bytes` bytes.
        """
        value = 0
        for place in range(most_bytes):
            byte = self.number(1)
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise Malformed("a number without an end")
