"""Asks a node on this machine whether it is ready, as a load balancer does."""

import trio

ANSWER_SECONDS = 3.0
"""A node that takes longer counts as not ready. One that starts finds the question when it begins to accept."""

_REQUEST = b"GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
_YES = b"HTTP/1.1 200 "


async def is_ready(port: int) -> bool:
    """Whether `/ready` says yes within `ANSWER_SECONDS`. Cancellation closes the connection.

    Args:
        port: on loopback.
    """
    with trio.move_on_after(ANSWER_SECONDS):
        try:
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                await stream.send_all(_REQUEST)
                answer = b""
                while len(answer) < len(_YES) and (piece := await stream.receive_some()):
                    answer += piece
                return answer.startswith(_YES)
        except (OSError, trio.BrokenResourceError):
            return False
    return False
