"""The one live socket. What is watched, and what has no answer yet, outlives each connection: the next one resumes
every channel where the last frame left it, and says again what was not answered. The service knows a repeated
message by its `clientMessageId`, so nothing is lost and nothing is there twice.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any, Literal, TypeVar, overload

import anyio
import httpx2
import msgspec
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from partyline.client.backoff import Backoff
from partyline.client.closing import Duty
from partyline.client.connection import Connection
from partyline.client.credentials import Credentials, Grant, signed_out
from partyline.client.frames import Frame, encode_command
from partyline.client.problem import ClientError, Document, Problem, Unreachable, closed
from partyline.client.subscription import MOST_UNREAD, Subscription

PATH = "/v1/social/live?channels="

State = Literal["closed", "connecting", "live", "waiting"]
Mode = Literal["snapshot", "delta"]
T = TypeVar("T")


class _Asked:
    """A command that waits for its answer.

    Args:
        command: the command's fields, without its id.
        is_lasting: whether it is sent again over the next connection; otherwise it fails with its own.
        subscription: the subscription that the command begins; None for other commands.
    """

    def __init__(
        self, command: dict[str, object], is_lasting: bool = False, subscription: Subscription | None = None
    ) -> None:
        self.command, self.is_lasting, self.subscription = command, is_lasting, subscription
        self.said = ""
        self.answered = anyio.Event()
        self.frame: Frame | None = None
        self.error: Exception | None = None


class Live:
    """Channels and commands over connections that come and go; nothing is opened before something is asked for.

    Args:
        http: opens the sockets.
        base: address of the service, `https://host`.
        credentials: whose token they carry.
        tasks: runs what is to be done later; a fault of these tasks ends the client.
        backoff: the pauses between two tries to connect; None for the usual ones.
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
        self._connection: Connection | None = None
        self._opened_at = 0.0
        self._used: Grant | None = None
        self._wanted, self._woken = anyio.Event(), anyio.Event()
        self._stopped: ClientError | None = None
        self.state: State = "closed"
        """`closed`: nothing was asked for yet, or the client will not connect again; `waiting`: for the next try."""

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
            channel: a channel that this client does not watch already.
            mode: `snapshot` for whole snapshots only, `delta` for one and then events.
            limit: most items in a snapshot, where the channel has a list; None for the service's default.
            most_unread: most items that are held for the reader, at least 1; a reader who falls behind further gets a
                snapshot.

        Raises:
            ValueError: the channel is watched already, or is no text, or nothing may be held.
            Problem: nobody is signed in any more, or the name is too long.
            Unreachable: the client was closed.
        """
        if channel in self._subscriptions:
            raise ValueError(f"{channel} is watched already")
        if most_unread < 1:
            raise ValueError("at least one item is held")
        self._raise_if_stopped()
        params: dict[str, object] = {"mode": mode}
        if limit is not None:
            params["limit"] = limit
        subscription = Subscription(channel, params, most_unread, self._begin)
        # A command that cannot be encoded raises here, for the caller, and not later, when the next connection begins.
        encode_command(subscription.command())
        self._subscriptions[channel] = subscription
        try:
            self._wanted.set()
            self._begin(subscription)
            yield subscription
        finally:
            subscription.close()
            if self._subscriptions.get(channel) is subscription:
                del self._subscriptions[channel]
                self._say({"op": "unsubscribe", "channel": channel})

    @overload
    async def send(self, channel: str, message: Mapping[str, object], *, into: type[T]) -> T: ...
    @overload
    async def send(self, channel: str, message: Mapping[str, object], *, into: None = None) -> Any: ...
    async def send(self, channel: str, message: Mapping[str, object], *, into: Any = None) -> Any:
        """Send a message, over as many connections as it takes.

        Args:
            channel: `conversation:<id>`.
            message: the fields that POST takes for a message; `clientMessageId` is added where it has none.
            into: a type for the answer; None for plain JSON.

        Returns:
            The message, once it is durable.

        Raises:
            Problem: it is refused, longer than 64 KiB (`PAYLOAD_TOO_LARGE`, and not sent), or nobody is signed in any
                more. Cancelled, it may have been sent.
            Unreachable: the client was closed before there was an answer.
            TypeError, ValueError: it cannot be written as JSON.
        """
        data = {"clientMessageId": token_hex(16), **message}
        frame = await self._ask({"op": "send", "channel": channel, "data": data}, is_lasting=True)
        return msgspec.json.decode(frame.data) if into is None else msgspec.json.decode(frame.data, type=into)

    async def read(self, channel: str, message_id: str) -> None:
        """Mark a conversation as read up to a message.

        Args:
            channel: `conversation:<id>`.
            message_id: the id of the last message that was read.

        Raises:
            Problem: it is refused.
            Unreachable: there is no connection, or it broke before the answer.
        """
        await self._ask({"op": "read", "channel": channel, "messageId": message_id})

    async def typing(self, channel: str) -> None:
        """Say that the user is writing; lost where there is no connection."""
        self._say({"op": "typing", "channel": channel})
        await checkpoint()

    def wake(self) -> None:
        """Try to connect now rather than after the pause: the network is back."""
        self._backoff.reset()
        self._woken.set()

    async def run(self) -> None:
        """Connect, and connect again, until the service or the credentials stop the client; cancelled, the socket is
        closed."""
        while self._stopped is None:
            await self._wanted.wait()
            self.state, self._woken = "connecting", anyio.Event()
            duty = await self._connect()
            if duty.renews:
                duty = await self._renew()
            if duty.stops is not None:
                self._stop(duty.stops)
                return
            self.state = "waiting"
            with anyio.move_on_after(duty.exact_seconds or self._backoff.next(duty.least_seconds)):
                await self._woken.wait()

    def close(self) -> None:
        """End all that waits, with `Unreachable`: nothing is asked of this client any more."""
        if self._stopped is None:
            self._stop(closed())

    # Connections.

    async def _connect(self) -> Duty:
        """Run one connection from beginning to end; returns what its end asks for."""
        try:
            token = await self._credentials.token()
        except ClientError as error:
            return _after_failure(error)
        if token is None:
            return Duty(stops=signed_out())
        self._used = self._credentials.grant
        return await Connection(self._opened, self._heard, self._closed).run(self._http, self._url, token)

    async def _renew(self) -> Duty:
        """Get another token than the one that was refused; returns what is to be done then."""
        try:
            return Duty() if await self._credentials.renew(self._used) else Duty(stops=signed_out())
        except ClientError as error:
            return _after_failure(error)  # the token is asked for again with the next try

    def _opened(self, connection: Connection) -> None:
        """Begin all channels, and send lasting commands again behind them, so that what these do comes as an event."""
        self._connection, self.state, self._opened_at = connection, "live", anyio.current_time()
        for subscription in self._subscriptions.values():
            self._begin(subscription)
        for asked in self._unanswered.values():
            if asked.is_lasting:
                connection.say(asked.said)

    def _closed(self) -> None:
        self._backoff.weigh(anyio.current_time() - self._opened_at)
        self._connection, self._woken = None, anyio.Event()
        self.state = "waiting" if self._stopped is None else "closed"
        for id in [id for id, one in self._unanswered.items() if not one.is_lasting]:
            self._settle(id, error=Unreachable("the connection broke"))

    def _stop(self, why: ClientError) -> None:
        self._stopped, self.state = why, "closed"
        for id in list(self._unanswered):
            self._settle(id, error=why)
        for subscription in self._subscriptions.values():
            subscription.end(why)

    def _raise_if_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped.with_traceback(None)  # it would keep the frames of each time

    # What is said and heard.

    def _heard(self, frame: Frame) -> Duty | None:
        subscription = self._subscriptions.get(frame.channel)
        if frame.type in ("snapshot", "event"):
            if subscription is not None:
                subscription.take(frame)
        elif frame.type == "reply" and frame.id is not None:
            self._settle(frame.id, frame)
        elif frame.type == "unsubscribed" and subscription is not None and not subscription.is_asked:
            self._end(subscription, Problem(Document(frame.code, f"{frame.channel} is no longer shown")))
        elif frame.type == "hello":
            self._credentials.told_time(frame.server_time_ms / 1000)
        elif frame.type == "reconnect":
            return Duty(exact_seconds=max(0.05, frame.after_ms / 1000))
        return None

    def _begin(self, subscription: Subscription) -> None:
        """Ask for a channel where there is a connection; without one the next connection begins all channels."""
        if self._connection is not None:
            asked = _Asked(subscription.command(), subscription=subscription)
            self._register(asked)
            self._connection.say(asked.said)

    async def _begin_later(
        self, connection: Connection | None, subscription: Subscription, seconds: float
    ) -> None:
        await anyio.sleep(seconds)
        if self._connection is connection and self._subscriptions.get(subscription.channel) is subscription:
            self._begin(subscription)

    def _begun(self, subscription: Subscription, frame: Frame) -> None:
        """The service has answered whether it shows a channel."""
        if self._subscriptions.get(subscription.channel) is not subscription:
            return
        if frame.ok:
            subscription.begun(frame.recovered)
            return
        problem = Problem(frame.error or Document())
        if problem.is_temporary:
            pause = subscription.backoff.next(problem.retry_after_seconds)
            self._tasks.start_soon(self._begin_later, self._connection, subscription, pause)
        else:
            self._end(subscription, problem)

    def _end(self, subscription: Subscription, problem: Problem) -> None:
        del self._subscriptions[subscription.channel]
        subscription.end(problem)

    async def _ask(self, command: dict[str, object], is_lasting: bool = False) -> Frame:
        self._raise_if_stopped()
        asked = _Asked(command, is_lasting)
        id = self._register(asked)
        try:
            if is_lasting:
                self._wanted.set()
            elif self._connection is None:
                raise Unreachable("there is no connection")
            if self._connection is not None:
                self._connection.say(asked.said)
            await asked.answered.wait()
        finally:
            self._unanswered.pop(id, None)
        if asked.error is not None:
            raise asked.error.with_traceback(None)  # which may be that of many
        frame = asked.frame or Frame("reply")
        if not frame.ok:
            raise Problem(frame.error or Document())
        return frame

    def _register(self, asked: _Asked) -> int:
        """Give a command its id, by which it is answered; raises what `encode_command` raises."""
        self._last_id += 1
        asked.said = encode_command({**asked.command, "id": self._last_id})
        self._unanswered[self._last_id] = asked
        return self._last_id

    def _settle(self, id: int, frame: Frame | None = None, error: Exception | None = None) -> None:
        asked = self._unanswered.pop(id, None)
        if asked is None:
            return  # the second answer to a command that was sent over two connections
        asked.frame, asked.error = frame, error
        asked.answered.set()
        if asked.subscription is not None and frame is not None:
            self._begun(asked.subscription, frame)

    def _say(self, command: dict[str, object]) -> None:
        """Send a command without an answer, where there is a connection."""
        if self._connection is not None:
            self._connection.say(encode_command(command))


def _after_failure(error: ClientError) -> Duty:
    """What a failure to get a token asks for."""
    if isinstance(error, Problem) and not error.is_temporary:
        return Duty(stops=error)
    return Duty(least_seconds=error.retry_after_seconds)
