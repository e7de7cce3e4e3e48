"""Receive what a connection begins with: a proxy's header where one is trusted, then the opening."""

import math

import trio

from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.openings import may_be_whole, read_opening
from scripts.gateway_node.pieces import Malformed, Opening
from scripts.gateway_node.proxy_protocol import Header, read_header

OPENING_SECONDS = 5.0
"""How long the opening may take to come whole."""

SILENCE_SECONDS = 0.5
"""The silence after which a ping of the oldest clients counts as whole."""

_RECEIVE_BYTES = 4096


async def receive_header(stream: trio.abc.ReceiveStream, data: bytearray) -> Header:
    """Receive a proxy's header, and take it from the front of `data`.

    Args:
        data: what has come; it grows.

    Raises:
        TurnedAway: the connection is none that we carry, or has ended.
    """
    try:
        while (header := read_header(data)) is None:
            await _receive(stream, data)
    except Malformed:
        raise TurnedAway("malformed") from None
    del data[: header.size]
    return header


async def receive_opening(stream: trio.abc.ReceiveStream, data: bytearray) -> Opening:
    """Receive the opening of a connection; it stays in `data`, with what has come behind it.

    Args:
        data: what has come; it grows.

    Raises:
        TurnedAway: the connection is none that we carry, or has ended.
    """
    is_silent = False
    try:
        while (opening := read_opening(data, is_silent=is_silent)) is None:
            with trio.move_on_after(SILENCE_SECONDS if may_be_whole(data) else math.inf) as silence:
                await _receive(stream, data)
            is_silent = silence.cancelled_caught
    except Malformed:
        raise TurnedAway("malformed") from None
    return opening


async def _receive(stream: trio.abc.ReceiveStream, data: bytearray) -> None:
    try:
        chunk = await stream.receive_some(_RECEIVE_BYTES)
    except trio.BrokenResourceError:
        chunk = b""
    if not chunk:
        raise TurnedAway("left")
    data += chunk
