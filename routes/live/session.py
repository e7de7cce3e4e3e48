"""One socket of `/v1/social/live`: its subscriptions, its commands in flight, and its replies.

Invariants: at most 200 subscriptions, one per channel name; at most 64 posted commands without an answer. Answers are
written by the actor's turn itself, before its frames go out, so that the reply to a `send` precedes the event of that
message on this socket (contract §9), and both are sent together. A command without an `id` gets no reply when it
succeeds, and one with `id` null when it is refused, since its client would wait for what never comes. A session has no
task and no reference to the request that opened it. It ends with its socket; replies to commands still in flight are
dropped then.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

import msgspec
import trio

from actors.errors import Invalid, QuotaExceeded, Refused
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.subscription import Subscription, WatchRequest
from actors.kernel.supervisor import Fault
from persistence.errors import PersistenceError
from routes.edge.principal import Access, UserPrincipal, demand
from routes.edge.problems import refusal_of
from routes.edge.websocket import frames
from routes.edge.websocket.socket import LiveSocket
from routes.live.channel import LiveChannel, SubscribeParams
from routes.live.rights import FORBIDDEN
from routes.service import Service
from routes.users.parts import RIGHTS

MAX_SUBSCRIPTIONS = 200
"""Most channels that one socket may watch at once (contract §9)."""

MAX_IN_FLIGHT = 64
"""Most commands posted to actors and not answered yet; at that number the socket is not read until one is."""

FAILURES = (Refused, PersistenceError, Fault)
"""Failures of a command that are sent to the client as a refusal; the socket stays open."""

AS_BY_DEFAULT = SubscribeParams()
"""How channels are shown that are subscribed on connect."""

CommandId: TypeAlias = int | str | None
"""The id that the client chose for a command; None for a command that wants no reply but a refusal."""

Since: TypeAlias = tuple[str, int]
"""(epoch, offset) of the newest event or snapshot that a client has."""

Asked: TypeAlias = tuple[LiveChannel, str, WatchRequest]
"""A channel, the id of what it shows, and the request to watch that, by the rights of one moment."""


class RightsMoved(Exception):
    """The user's rights have changed while a channel was loaded: it has to be asked for anew, by those of now."""


class Session:
    """A client of `/v1/social/live`; implements `RightsObserver`.

    Args:
        service: everything that is open.
        socket: multiplexed; the session follows its user's rights until it closes.
        user: the viewer.

    Attributes:
        access: the user's rights, as last heard.
        capped: as in `UserPrincipal`.
    """

    __slots__ = ("_in_flight", "_room", "_watched", "access", "capped", "service", "socket", "user_id")

    def __init__(self, service: Service, socket: LiveSocket, user: UserPrincipal) -> None:
        self.service = service
        self.socket = socket
        self.user_id = user.user_id
        self.capped = user.capped
        self.access: Access = user.access
        self._watched: tuple[Subscription, ...] = ()  # each with a name of its own; few, so a dict takes more
        self._in_flight = 0
        self._room: trio.Event | None = None
        service.of(RIGHTS).follow(user.user_id, self, user.access, capped=user.capped)
        socket.on_close(self._close)

    # -- answering -------------------------------------------------------------------------------------------

    def succeed(
        self,
        id: CommandId,
        *,
        channel: str | msgspec.UnsetType = msgspec.UNSET,
        data: object = msgspec.UNSET,
    ) -> None:
        """Reply that a command was done.

        Args:
            id: the command's id.
            channel: the channel's wire name, if the client may not know it.
            data: what the REST route would answer; a struct or `msgspec.Raw`.
        """
        if id is not None:
            self.socket.send_nowait(frames.reply_ok(id, channel=channel, data=data))

    def refuse(self, id: CommandId, refused: Refused) -> None:
        """Reply that a command was refused, with the code that REST would give.

        Args:
            id: the command's id, or None if it carried none.
            refused: the reason.
        """
        errors = refused.errors if isinstance(refused, Invalid) else None
        self.socket.send_nowait(
            frames.reply_error(id, refused.code, refused.message, meta=refused.meta, errors=errors)
        )

    # -- posting ---------------------------------------------------------------------------------------------

    def post(self, id: CommandId, kind: Kind[Any, Any], actor_id: str, command: object) -> None:
        """Send a command to an actor without waiting; the reply is written when its turn has been committed.

        Commands posted to one actor are decided, and answered, in this order. The reply is held back until the first
        frames of the turn have been offered, so that it is sent together with this socket's frames.

        Args:
            id: the client's id of the command.
            kind, actor_id: the actor's kind and id.
            command: one of the kind's commands.
        """
        self._in_flight += 1
        self.service.system.post(
            kind, actor_id, command, partial(self._answered, id), after_frames=self.socket.release
        )

    @property
    def crowded(self) -> bool:
        """Whether so many posted commands are unanswered that the client must wait (`wait_room`)."""
        return self._in_flight >= MAX_IN_FLIGHT

    async def wait_room(self) -> None:
        """Wait until fewer than 64 posted commands are unanswered. Cancellation changes nothing."""
        while self.crowded:
            self._room = trio.Event()
            await self._room.wait()

    def _answered(self, id: CommandId, answer: Answer) -> None:
        self._in_flight -= 1
        if self._room is not None:
            self._room.set()
            self._room = None
        if answer.error is not None:
            self.refuse(id, refusal_of(answer.error))
        elif id is not None:
            data = msgspec.UNSET if answer.reply is None else answer.reply
            self.socket.hold(frames.reply_ok(id, data=data))

    # -- watching --------------------------------------------------------------------------------------------

    def subscribe(
        self,
        name: str,
        params: SubscribeParams = AS_BY_DEFAULT,
        *,
        since: Since | None = None,
        opened: Callable[[str, str, int, bool], None] | None = None,
    ) -> Coroutine[Any, Any, None] | None:
        """Watch a channel; a second subscription of the same name replaces the first.

        Where what it shows is in memory, that is done at once; otherwise an awaitable is returned that completes it.
        The rights that count are those at the moment when it is shown.
        Its cancellation leaves the channel as it was, and so does a socket that closes meanwhile.

        Args:
            name: the channel's name, as the client wrote it.
            params: how it is shown.
            since: the position up to which the client has events already.
            opened: called with name, epoch, offset and recovered, before the first frame.

        Raises:
            Refused: there is no such channel, the user may not watch it, or watches 200 already; also by the awaitable.
            PersistenceError: by the awaitable alone, the actor could not be loaded.
        """
        channel, actor_id, request = self._asked(name, params, since, opened)
        preparing = channel.prepare(self.service, self.user_id)
        if preparing is None:
            shown = channel.shown(self.service)
            subscription = self.service.system.watching.watch_now(shown, actor_id, request)
            if subscription is not None:
                self._take(subscription)
                return None
        anew = partial(self._asked, name, params, since, opened)
        return self._subscribe((channel, actor_id, request), preparing, anew)

    async def _subscribe(
        self, asked: Asked, preparing: Awaitable[None] | None, ask_anew: Callable[[], Asked]
    ) -> None:
        if preparing is not None:
            await preparing
        while True:
            channel, actor_id, request = asked
            try:
                self._take(await self.service.system.watch(channel.shown(self.service), actor_id, request))
            except RightsMoved:
                # What changes the rights has been committed each time, and by now the channel is in memory.
                asked = ask_anew()
            else:
                return

    def _asked(
        self,
        name: str,
        params: SubscribeParams,
        since: Since | None,
        opened: Callable[[str, str, int, bool], None] | None,
    ) -> Asked:
        """The channel of a name, the id of what it shows, and the request to watch that; or the refusal."""
        channel, actor_id = self.service.channels.locate(name, self.user_id)
        name = channel.name_of(actor_id)
        access = self.access
        for needs in channel.needs:
            demand(needs, access)
        self._check_room(name)

        def begin(epoch: str, offset: int, recovered: bool) -> None:
            if self.access is not access:
                raise RightsMoved
            # End the old subscription before the reply, so that none of its frames follows the reply.
            self._leave(name)
            if opened is not None:
                opened(name, epoch, offset, recovered)

        request = WatchRequest(
            sink=self.socket,
            viewer=channel.viewer_of(self.user_id, params, access),
            channel=name,
            envelope=frames.LIVE,
            mode=params.mode,
            opened=begin,
            since=since,
        )
        return channel, actor_id, request

    def _take(self, subscription: Subscription) -> None:
        if self.socket.closed:
            subscription.close()
        else:
            self._watched += (subscription,)

    def unsubscribe(self, name: str) -> str:
        """Stop watching a channel; harmless if it was not watched.

        Returns:
            The channel's wire name.

        Raises:
            NotFound: there is no such channel.
        """
        channel, actor_id = self.service.channels.locate(name, self.user_id)
        name = channel.name_of(actor_id)
        self._leave(name)
        return name

    def told_off(self, name: str, refused: Refused) -> None:
        """Tell the client that a channel subscribed on connect is not shown.

        Args:
            name: the channel's name, as the address gave it.
            refused: the reason.
        """
        self.socket.send_nowait(frames.unsubscribed(name, refused.code))

    def recheck(self, access: Access) -> None:
        """Take the user's new rights, and end subscriptions that they no longer cover."""
        self.access = access
        for subscription in self._watched:
            self._recheck(self.service.channels.named(subscription.wire_name), subscription)

    def _recheck(self, channel: LiveChannel, subscription: Subscription) -> None:
        if not channel.open_to(self.access):
            subscription.end(FORBIDDEN)
            return
        if channel.looks is not None:
            subscription.viewer = channel.looks(self.access)
        subscription.recheck()

    def _close(self) -> None:
        self.service.of(RIGHTS).unfollow(self.user_id, self)
        for subscription in self._watched:
            subscription.close()
        self._watched = ()

    def _leave(self, name: str) -> None:
        for subscription in self._watched:
            if subscription.wire_name == name:
                self._watched = tuple(one for one in self._watched if one is not subscription)
                subscription.close()
                return

    def _check_room(self, name: str) -> None:
        if len(self._watched) < MAX_SUBSCRIPTIONS or any(one.wire_name == name for one in self._watched):
            return
        # Subscriptions that the server ended are still listed; they are removed only when the list is full.
        self._watched = tuple(filter(_stands, self._watched))
        if len(self._watched) >= MAX_SUBSCRIPTIONS:
            raise full()


def full() -> QuotaExceeded:
    """The refusal of one channel more than a socket may watch."""
    return QuotaExceeded(
        message=f"one socket watches at most {MAX_SUBSCRIPTIONS} channels", max=MAX_SUBSCRIPTIONS
    )


def _stands(subscription: Subscription) -> bool:
    return subscription.channel.holds(subscription)
