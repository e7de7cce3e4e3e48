"""One kept-alive HTTP/1.1 connection in a task: a request, then its answer, of any size."""

from typing import Any

import msgspec
import trio

from scripts.load.clients.http import request
from scripts.load.failures import first

ANSWER_SECONDS = 60
_PIECE_BYTES = 1 << 16


class Lost(Exception):
    """The server closed the connection, or gave no answer within a minute."""


class Line:
    """A connection of somebody to the server; opened when it is needed, and again after it was lost.

    Args:
        address: IP address and port of the server.
        host: the Host field.
        token: a user's token, or the secret of a game server; "" for a stranger.
        server_id: the game server that asks; "" for users.
    """

    def __init__(self, address: tuple[str, int], host: str, token: str = "", *, server_id: str = "") -> None:
        self._address, self._host, self._token, self._server_id = address, host, token, server_id
        self._stream: trio.SocketStream | None = None

    async def ask(self, method: str, target: str, body: object = None) -> tuple[int, bytes]:
        """Send a request; returns the status and the body of its answer.

        Args:
            body: sent as JSON; None sends none.

        Raises:
            Lost: there was no answer. Cancellation closes the connection.
        """
        return await self.send(
            request(method, target, host=self._host, token=self._token, body=body, server_id=self._server_id)
        )

    async def json(self, method: str, target: str, body: object = None) -> Any:
        """Send a request; returns the decoded body of a 2xx.

        Raises:
            Lost: any other answer, or none.
        """
        status, answer = await self.ask(method, target, body)
        if not 200 <= status < 300:
            raise Lost(
                f"{method} {target} was answered with {status}: {answer[:200].decode(errors='replace')}"
            )
        return msgspec.json.decode(answer) if answer else None

    async def send(self, data: bytes) -> tuple[int, bytes]:
        """Send the bytes of a request; returns the status and the body of its answer.

        Raises:
            Lost: there was no answer. Cancellation closes the connection.
        """
        keep = False
        try:
            with trio.fail_after(ANSWER_SECONDS):
                stream = self._stream = self._stream or await trio.open_tcp_stream(*self._address)
                async with trio.open_nursery() as nursery:
                    # An early answer (413, 429) comes while the body is still being sent.
                    nursery.start_soon(_send_all, stream, data)
                    status, answer, keep = await _answer(stream)
                    nursery.cancel_scope.cancel()
        except* (OSError, trio.BrokenResourceError, trio.TooSlowError, Lost) as group:
            why = first(group)
            raise Lost(str(why) or type(why).__name__) from why
        finally:
            if not keep:
                self.close()
        return status, answer

    def close(self) -> None:
        """Hang up."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.socket.close()

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _send_all(stream: trio.SocketStream, data: bytes) -> None:
    try:
        await stream.send_all(data)
    except trio.BrokenResourceError:  # the server has closed, perhaps after a refusal that can still be read
        return


async def _answer(stream: trio.SocketStream) -> tuple[int, bytes, bool]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await _piece(stream)
    head, _, body = data.partition(b"\r\n\r\n")
    lowered = head.lower()
    _, found, after = lowered.partition(b"\r\ncontent-length:")
    size = int(after.split(b"\r\n", 1)[0]) if found else 0
    parts, got = [body], len(body)
    while got < size:
        parts.append(await _piece(stream))
        got += len(parts[-1])
    return int(head[9:12]), b"".join(parts), b"connection: close" not in lowered


async def _piece(stream: trio.SocketStream) -> bytes:
    piece = await stream.receive_some(_PIECE_BYTES)
    if not piece:
        raise Lost("the server hung up")
    return bytes(piece)
