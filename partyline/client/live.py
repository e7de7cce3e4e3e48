"""The one live socket. What is watched, and what has no answer yet, outlives each connection: the next one resumes
every channel where the last frame left it, and says again what was not answered. The service knows a repeated
message by its `clientMessageId`, so nothing is lost and nothing is there twice.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any, Literal

import anyio
import httpx2
import msgspec
from anyio.abc import TaskGroup
from httpx2.websockets import (
    AsyncWebSocketSession,
    HTTPXWSException,
    WebSocketDisconnect,
    WebSocketInvalidTypeReceived,
    WebSocketUpgradeError,
)
from wsproto.utilities import LocalProtocolError

from partyline.client.backoff import Backoff
from partyline.client.closing import ABNORMAL, Duty, duty_after
from partyline.client.credentials import Credentials, signed_out
from partyline.client.frames import Frame, decode_frame, encode_command
from partyline.client.problem import Document, Problem, Unreachable, problem_of
from partyline.client.subscription import MOST_UNREAD, Subscription

PATH = "/v1/social/live?channels="
MOST_FRAME_BYTES = 8 << 20
KEEPALIVE_SECONDS = 20.0

State = Literal["closed", "connecting", "live", "waiting"]
Mode = Literal["snapshot", "delta"]


class _Asked:
    """A command that wants an answer.

    Args:
        command: as it is said.
        is_lasting: it is said again over the next connection; otherwise it ends with its own.
        subscription: that it begins; None for other commands.
    """

    def __init__(
        self, command: dict[str, object], is_lasting: bool = False, subscription: Subscription | None = None
    ) -> None:
        self.command, self.is_lasting, self.subscription = command, is_lasting, subscription
        self.answered = anyio.Event()
        self.frame: Frame | None = None
        self.error: Exception | None = None


class Live:
    """Channels and commands over connections that come and go; nothing is opened before something is asked for.

    Args:
        http: opens the sockets.
        base: address of the service, `https://host`.
        credentials: whose token they carry.
        tasks: for what is to be done later; a fault of it ends the client.
        backoff: between two tries to connect.
    """

    def __init__(
        self,
        http: httpx2.AsyncClient,
        base: str,
        credentials: Credentials,
        tasks: TaskGroup,
        backoff: Backoff | None = None,
    ) -> None:
        self._http, self._url = http, "ws" + base.removeprefix("http") + PATH
        self._credentials, self._tasks, self._backoff = credentials, tasks, backoff or Backoff()
        self._subscriptions: dict[str, Subscription] = {}
        self._unanswered: dict[int, _Asked] = {}
        self._last_id = 0
        self._socket: AsyncWebSocketSession | None = None
        self._speaking = anyio.Lock()
        self._wanted, self._woken = anyio.Event(), anyio.Event()
        self._stopped: Problem | None = None
        self.state: State = "closed"
        """`closed`: nothing was asked for yet, or it will not connect again; `waiting`: for the next try."""

    @asynccontextmanager
    async def subscribe(
        self,
        channel: str,
        *,
        mode: Mode = "snapshot",
        limit: int | None = None,
        most_unread: int = MOST_UNREAD,
    ) -> AsyncIterator[Subscription]:
        """Watch a channel for the block: `inbox`, `friends`, `party`, `conversation:<id>` and so on.

        Args:
            channel: one that this client does not watch already.
            mode: whole snapshots, or one and then events.
            limit: of the items in a snapshot, where the channel has a list.
            most_unread: items that are held for the reader; one who falls behind further gets a snapshot.

        Raises:
            ValueError: the channel is watched already.
            Problem: nobody is signed in any more.
        """
        if channel in self._subscriptions:
            raise ValueError(f"{channel} is watched already")
        self._raise_if_stopped()
        params: dict[str, object] = {"mode": mode}
        if limit is not None:
            params["limit"] = limit
        subscription = Subscription(channel, params, most_unread)
        self._subscriptions[channel] = subscription
        try:
            self._wanted.set()
            if self.state == "live":
                await self._begin(subscription)
            yield subscription
        finally:
            subscription.close()
            if self._subscriptions.get(channel) is subscription:
                del self._subscriptions[channel]
                with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                    await self._say({"op": "unsubscribe", "channel": channel})

    async def send(self, channel: str, message: Mapping[str, object], *, into: Any = None) -> Any:
        """Send a message, over as many connections as it takes.

        Args:
            channel: `conversation:<id>`.
            message: as a POST of it takes; `clientMessageId` is added where it has none.
            into: a type for the answer; None for plain JSON.

        Returns:
            The message, once it is durable.

        Raises:
            Problem: it is refused, or nobody is signed in any more. Cancelled, it may have been sent.
        """
        data = {"clientMessageId": token_hex(16), **message}
        frame = await self._ask({"op": "send", "channel": channel, "data": data}, is_lasting=True)
        return msgspec.json.decode(frame.data) if into is None else msgspec.json.decode(frame.data, type=into)

    async def read(self, channel: str, message_id: str) -> None:
        """Mark a conversation as read up to a message.

        Args:
            channel: `conversation:<id>`.
            message_id: of the last message that was read.

        Raises:
            Problem: it is refused.
            Unreachable: there is no connection, or it broke before the answer.
        """
        await self._ask({"op": "read", "channel": channel, "messageId": message_id})

    async def typing(self, channel: str) -> None:
        """Say that the user writes; lost where there is no connection."""
        await self._say({"op": "typing", "channel": channel})

    def wake(self) -> None:
        """Try now where the next try was to come later: the network is back."""
        self._backoff.reset()
        self._woken.set()

    async def run(self) -> None:
        """Connect, and connect again, until the service or the credentials end it; cancelled, the socket is closed."""
        while self._stopped is None:
            await self._wanted.wait()
            self.state = "connecting"
            duty = await self._connect()
            if duty.stops is not None or (duty.renews and not await self._renewed()):
                self._stop(duty.stops or signed_out())
                return
            self.state, self._woken = "waiting", anyio.Event()
            with anyio.move_on_after(duty.exact_seconds or self._backoff.next(duty.least_seconds)):
                await self._woken.wait()

    # Connections.

    async def _connect(self) -> Duty:
        """One connection from beginning to end; what its end asks for."""
        try:
            token = await self._credentials.token()
            if token is None:
                return Duty(stops=signed_out())
            async with self._http.websocket(
                self._url,
                headers={"Authorization": f"Bearer {token}"},
                max_message_size_bytes=MOST_FRAME_BYTES,
                keepalive_ping_interval_seconds=KEEPALIVE_SECONDS,
                keepalive_ping_timeout_seconds=KEEPALIVE_SECONDS,
            ) as socket:
                return await self._serve(socket)
        except WebSocketUpgradeError as error:
            return _after_refusal(error.response)
        except (httpx2.TransportError, HTTPXWSException, Unreachable):
            return Duty()
        except Problem as problem:  # of whoever gets the token
            return Duty(
                least_seconds=problem.retry_after_seconds, stops=None if problem.is_temporary else problem
            )

    async def _serve(self, socket: AsyncWebSocketSession) -> Duty:
        self._socket, self.state = socket, "live"
        try:
            await self._take_up()
            while True:
                frame = decode_frame(await socket.receive_text())
                self._backoff.reset()
                if (duty := await self._heard(frame)) is not None:
                    return duty
        except WebSocketDisconnect as end:
            return duty_after(end.code)
        except (WebSocketInvalidTypeReceived, msgspec.MsgspecError):
            return duty_after(1007)
        except HTTPXWSException:
            return duty_after(ABNORMAL)
        finally:
            self._socket = None
            for id in [id for id, one in self._unanswered.items() if not one.is_lasting]:
                self._settle(id, error=Unreachable("the connection broke"))

    async def _take_up(self) -> None:
        """Begin all channels, and say again what lasts behind them, so that what it does there comes as an event.

        What is said meanwhile comes last.
        """
        async with self._speaking:
            unsent = [id for id, one in self._unanswered.items() if one.is_lasting]
            for subscription in list(self._subscriptions.values()):
                await self._write(self._beginning(subscription))
            for id in unsent:
                if id in self._unanswered:
                    await self._write(self._unanswered[id].command)

    async def _renewed(self) -> bool:
        try:
            return await self._credentials.renew(self._credentials.grant)
        except (Problem, Unreachable) as error:
            return error.is_temporary  # the token is asked for again with the next try

    def _stop(self, problem: Problem) -> None:
        self._stopped, self.state = problem, "closed"
        for id in list(self._unanswered):
            self._settle(id, error=problem)
        for subscription in self._subscriptions.values():
            subscription.end(problem)

    def _raise_if_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped

    # What is said and heard.

    async def _heard(self, frame: Frame) -> Duty | None:
        subscription = self._subscriptions.get(frame.channel)
        if frame.type in ("snapshot", "event"):
            if subscription is not None and not subscription.take(frame):
                await self._begin(subscription)
        elif frame.type == "reply" and frame.id is not None:
            self._settle(frame.id, frame)
        elif frame.type == "unsubscribed" and subscription is not None:
            self._end(subscription, Problem(Document(frame.code, f"{frame.channel} is no longer shown")))
        elif frame.type == "hello":
            self._credentials.told_time(frame.server_time_ms / 1000)
        elif frame.type == "reconnect":
            return Duty(exact_seconds=max(0.05, frame.after_ms / 1000))
        return None

    async def _begin(self, subscription: Subscription) -> None:
        await self._say(self._beginning(subscription))

    def _beginning(self, subscription: Subscription) -> dict[str, object]:
        return self._register(_Asked(subscription.command(), subscription=subscription)).command

    async def _begin_later(self, subscription: Subscription, seconds: float) -> None:
        await anyio.sleep(seconds)
        if self._subscriptions.get(subscription.channel) is subscription and self.state == "live":
            await self._begin(subscription)

    def _begun(self, subscription: Subscription, frame: Frame) -> None:
        """The service has answered whether it shows a channel."""
        if self._subscriptions.get(subscription.channel) is not subscription:
            return
        if frame.ok:
            subscription.begun(frame.recovered)
            return
        problem = Problem(frame.error or Document())
        if problem.is_temporary:
            pause = self._backoff.next(problem.retry_after_seconds)
            self._tasks.start_soon(self._begin_later, subscription, pause)
        else:
            self._end(subscription, problem)

    def _end(self, subscription: Subscription, problem: Problem) -> None:
        del self._subscriptions[subscription.channel]
        subscription.end(problem)

    async def _ask(self, command: dict[str, object], is_lasting: bool = False) -> Frame:
        self._raise_if_stopped()
        asked = self._register(_Asked(command, is_lasting))
        try:
            if is_lasting:
                self._wanted.set()
            elif self._socket is None:
                raise Unreachable("there is no connection")
            await self._say(asked.command)
            await asked.answered.wait()
        finally:
            self._unanswered.pop(int(str(asked.command["id"])), None)
        if asked.error is not None:
            raise asked.error
        frame = asked.frame or Frame("reply")
        if not frame.ok:
            raise Problem(frame.error or Document())
        return frame

    def _register(self, asked: _Asked) -> _Asked:
        self._last_id += 1
        asked.command["id"] = self._last_id
        self._unanswered[self._last_id] = asked
        return asked

    def _settle(self, id: int, frame: Frame | None = None, error: Exception | None = None) -> None:
        asked = self._unanswered.pop(id, None)
        if asked is None:
            return  # the answer to what was said twice, over two connections
        asked.frame, asked.error = frame, error
        asked.answered.set()
        if asked.subscription is not None and frame is not None:
            self._begun(asked.subscription, frame)

    async def _say(self, command: dict[str, object]) -> None:
        async with self._speaking:
            await self._write(command)

    async def _write(self, command: dict[str, object]) -> None:
        """Say it where there is a connection; one that breaks meanwhile is noticed by whoever listens."""
        if self._socket is not None:
            try:
                await self._socket.send_text(encode_command(command).decode())
            except (HTTPXWSException, LocalProtocolError, anyio.ClosedResourceError):
                return


def _after_refusal(response: httpx2.Response) -> Duty:
    """What the refusal of an upgrade asks for."""
    problem = problem_of(response.status_code, b"", response.headers.get("Retry-After"))
    if response.status_code == 401:
        return Duty(renews=True)
    if response.status_code < 500 and not problem.is_temporary:
        return Duty(stops=problem)
    return Duty(least_seconds=problem.retry_after_seconds)
