"""What a connection begins with, told apart by its first bytes. Pure: bytes in, an opening out."""

from scripts.gateway_node import client_hello, handshake, legacy
from scripts.gateway_node.pieces import Malformed, Opening


def read_opening(data: bytes | bytearray, *, is_silent: bool = False) -> Opening | None:
    """The opening that these bytes begin with; None while it has not come whole.

    However the bytes are split, the first answer that is not None is the same.

    Args:
        data: all bytes that have come.
        is_silent: whether nothing has followed for a while, so that these bytes have to be enough.

    Raises:
        Malformed: the bytes are no opening that we carry.
    """
    if may_be_whole(data):
        return legacy.read_legacy(data, is_silent=is_silent)
    opening = _read(data)
    if opening is None and is_silent:
        raise Malformed("no opening")
    return opening


def may_be_whole(data: bytes | bytearray) -> bool:
    """Whether these bytes can be a whole opening by the silence after them: only the oldest pings have no end of their
    own."""
    return data[:1] == legacy.FIRST and legacy.is_handshake(data) is not True


def _read(data: bytes | bytearray) -> Opening | None:
    if data[: len(client_hello.FIRST)] == client_hello.FIRST:
        return client_hello.read_client_hello(data)
    if not data or data == client_hello.FIRST[:1]:
        return None
    return handshake.read_handshake(data)
