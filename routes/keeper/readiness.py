"""Asks a node on this machine whether it is ready, as a load balancer does."""

from enum import Enum

import trio

ANSWER_SECONDS = 3.0
"""A node that takes longer counts as silent. A node that is starting answers once it accepts connections."""

_REQUEST = b"GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
_HEAD = b"HTTP/1.1 "
_YES = b"200 "


class Readiness(Enum):
    """The answer of a node."""

    READY = "yes"
    UNREADY = "no"
    SILENT = "nothing"


async def ask_ready(port: int) -> Readiness:
    """Ask `/ready`, and wait for the answer for `ANSWER_SECONDS`. Cancellation closes the connection.

    Args:
        port: the node's own port on loopback.
    """
    answer = b""
    with trio.move_on_after(ANSWER_SECONDS):
        try:
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                await stream.send_all(_REQUEST)
                while len(answer) < len(_HEAD + _YES) and (piece := await stream.receive_some()):
                    answer += piece
        except (OSError, trio.BrokenResourceError):
            return Readiness.SILENT
    if not answer.startswith(_HEAD):
        return Readiness.SILENT
    return Readiness.READY if answer.removeprefix(_HEAD).startswith(_YES) else Readiness.UNREADY
