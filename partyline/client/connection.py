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
    """A connection that is told of by calls that do not wait.

    What is said is written by a task of its own: whoever says it may be cancelled, and a frame that was written by half
    would end the connection, and by its close code the client.

    Args:
        opened: called with it once it is there.
        heard: called with each frame; ends it where that asks for something.
        closed: called once nothing more is heard.
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
        """Say something behind all that was said before; lost where the connection breaks first.

        Args:
            command: of `encode_command`.
        """
        self._saying.send_nowait(command)

    async def run(self, http: httpx2.AsyncClient, url: str, token: str) -> Duty:
        """Open it, and say and hear until it ends; cancelled, it is closed.

        Args:
            http: opens it.
            url: of the socket.
            token: the user's.

        Returns:
            What is to be done next.
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
            scope.cancel()  # a ping, which would notice it, waits behind what is not taken
        except (HTTPXWSException, LocalProtocolError):
            return  # whoever listens notices it, perhaps by a close code

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
