"""One connection to the live socket: what is said over it, in order, what is heard, and what its end asks for."""

import math
from collections.abc import Callable

import anyio
import httpx2
import msgspec
from httpx2.websockets import (
    AsyncWebSocketSession,
    HTTPXWSException,
    WebSocketDisconnect,
    WebSocketInvalidTypeReceived,
    WebSocketUpgradeError,
)
from wsproto.connection import ConnectionState
from wsproto.utilities import LocalProtocolError, ProtocolError

from partyline.client.closing import ABNORMAL, Duty, duty_after
from partyline.client.frames import Frame, decode_frame
from partyline.client.problem import problem_of

MOST_FRAME_BYTES = 8 << 20
KEEPALIVE_SECONDS = 20.0
GOODBYE_SECONDS = 1.0
"""How long the close frame may take to leave."""


class Connection:
    """A connection to the live socket, which reports what happens by calls that do not wait.

    A task of its own writes commands: whoever calls `say` may be cancelled, and a frame that was written by half would
    end the connection and, by its close code, the client.

    Args:
        opened: called with this connection once it is open.
        heard: called with each frame; what it returns ends the connection, unless that is None.
        closed: called once no further frame is read.
    """

    def __init__(
        self,
        opened: "Callable[[Connection], None]",
        heard: Callable[[Frame], Duty | None],
        closed: Callable[[], None],
    ) -> None:
        self._opened, self._heard, self._closed = opened, heard, closed
        self._saying, self._said = anyio.create_memory_object_stream[str](math.inf)

    def say(self, command: str) -> None:
        """Send a command behind all that were sent before; lost where the connection breaks first.

        Args:
            command: JSON, as `encode_command` makes it.
        """
        self._saying.send_nowait(command)

    async def run(self, http: httpx2.AsyncClient, url: str, token: str) -> Duty:
        """Open the connection, and send and read until it ends; cancelled, it is closed.

        Args:
            http: opens the WebSocket.
            url: the address of the live socket, `ws` or `wss`.
            token: the user's access token.

        Returns:
            What the client has to do next.
        """
        with self._saying, self._said:
            try:
                async with http.websocket(
                    url,
                    headers={"Authorization": f"Bearer {token}"},
                    max_message_size_bytes=MOST_FRAME_BYTES,
                    keepalive_ping_interval_seconds=KEEPALIVE_SECONDS,
                    keepalive_ping_timeout_seconds=KEEPALIVE_SECONDS,
                ) as socket:
                    return await self._converse(socket)
            except WebSocketUpgradeError as error:
                return _after_refusal(error.response)
            except (httpx2.TransportError, HTTPXWSException):
                return Duty()
            except BaseExceptionGroup as group:  # of the tasks that read and ping below
                _, others = group.split((HTTPXWSException, ProtocolError))
                if others is not None:
                    raise others from None
                return Duty()

    async def _converse(self, socket: AsyncWebSocketSession) -> Duty:
        duty = Duty()
        try:
            async with anyio.create_task_group() as tasks:
                self._opened(self)
                tasks.start_soon(self._speak, socket, tasks.cancel_scope)
                duty = await self._listen(socket)
                tasks.cancel_scope.cancel()
        finally:
            self._closed()
            # Closing a socket is shielded below, and would wait as long as the network takes nothing.
            with anyio.move_on_after(GOODBYE_SECONDS, shield=True):
                await socket.close()
        return duty

    async def _speak(self, socket: AsyncWebSocketSession, scope: anyio.CancelScope) -> None:
        try:
            async for command in self._said:
                with anyio.fail_after(KEEPALIVE_SECONDS):
                    await socket.send_text(command)
        except TimeoutError:
            scope.cancel()  # pings, which would notice it, wait behind what the other side does not take
        except (HTTPXWSException, LocalProtocolError):
            return  # `_listen` notices the end as well, perhaps with a close code

    async def _listen(self, socket: AsyncWebSocketSession) -> Duty:
        try:
            while True:
                duty = self._heard(decode_frame(await socket.receive_text()))
                if duty is not None:
                    return duty
        except WebSocketDisconnect as end:
            is_said = socket.connection.state is not ConnectionState.OPEN  # else what came was no frame
            return duty_after(end.code if is_said else ABNORMAL)
        except (WebSocketInvalidTypeReceived, msgspec.MsgspecError):
            return duty_after(1007)
        except HTTPXWSException:
            return duty_after(ABNORMAL)


def _after_refusal(response: httpx2.Response) -> Duty:
    """What the refusal of an upgrade asks for."""
    problem = problem_of(response.status_code, b"", response.headers.get("Retry-After"))
    if response.status_code == 401:
        return Duty(renews=True)
    if response.status_code < 500 and not problem.is_temporary:
        return Duty(stops=problem)
    return Duty(least_seconds=problem.retry_after_seconds)
