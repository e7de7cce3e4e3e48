"""Single-purpose streams: one channel on one socket, its snapshots bare (service description §6).

The first frame is sent at once, the next ones after changes. Messages of the client are counted, so that it cannot keep
the server busy, and otherwise ignored. When the viewer loses access, the socket is closed with 4403.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import msgspec

from actors.errors import Overloaded, Refused
from actors.kernel.kind import Kind, View
from actors.kernel.subscription import Subscription, WatchRequest
from persistence.errors import PersistenceError
from routes.call import Call
from routes.edge.declare.query import Clamp
from routes.edge.listener import Listener
from routes.edge.principal import Access, UserPrincipal, demand, meets
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.frames import BARE, BareEnvelope
from routes.edge.websocket.socket import LiveSocket
from routes.live.pace import Pace, Verdict
from routes.live.rights import FORBIDDEN
from routes.service import Service
from routes.users.parts import RIGHTS

Interval = Annotated[float, Clamp(1, 60)]
"""Seconds, also parts of one, clamped to 1..60; accepted on every stream, but without effect, since nothing polls
(contract §9)."""


class StreamQuery(msgspec.Struct, frozen=True):
    """The query parameters of every single-purpose stream.

    Args:
        interval: seconds between fallback polls, clamped to 1..60; frames are pushed, so nothing polls.
    """

    interval: Interval = 1


async def show(
    call: Call,
    socket: LiveSocket,
    shown: Kind[Any, Any] | View[Any],
    id: str,
    *,
    viewer: object,
    told: Callable[[str, Any], object] | None = None,
) -> Listener | None:
    """Show one actor or view until the socket is closed, or the user loses the right that the stream's route needs.

    Args:
        call: the call that opened the stream.
        socket: open, not multiplexed.
        shown, id: the kind or view, and the id.
        viewer: the viewer object that its `audience` takes.
        told: makes the frame of an event from its name and data; left out, changes are shown in snapshots.

    Returns:
        The listener that the stream's handler returns; None if the socket was closed.
    """
    request = WatchRequest(
        sink=socket,
        viewer=viewer,
        channel=f"{shown.name}:{id}",
        envelope=BARE if told is None else BareEnvelope(told),
        mode="snapshot" if told is None else "delta",
        opened=unannounced,
    )
    return await watch(call, socket, request, shown=shown, id=id)


async def show_own(
    call: Call,
    socket: LiveSocket,
    view: View[Any],
    *,
    told: Callable[[str, Any], object] | None = None,
) -> Listener | None:
    """Show the caller their own view, as `show` does.

    Args:
        view: a view whose audience is `owner_only`.
        call, socket, told: as in `show`.

    Returns:
        As `show`.
    """
    return await show(call, socket, view, call.user_id, viewer=call.user_id, told=told)


async def watch(
    call: Call,
    socket: LiveSocket,
    request: WatchRequest,
    *,
    shown: Kind[Any, Any] | View[Any],
    id: str,
) -> Listener | None:
    """Subscribe a user; if that is refused or fails, close the socket with the reason and return None.

    Cancellation leaves no subscription.

    Args:
        call: the call that opened the stream.
        socket: its end ends the subscription.
        request: the subscription; its sink may be another object than the socket.
        shown, id: the kind or view, and the id.
    """
    subscription = await subscribed(call, socket, request, shown=shown, id=id)
    if subscription is None:
        return None
    return UserStream(call, socket, subscription)


async def subscribed(
    call: Call,
    socket: LiveSocket,
    request: WatchRequest,
    *,
    shown: Kind[Any, Any] | View[Any],
    id: str,
    needs_too: tuple[str, ...] = (),
) -> Subscription | None:
    """Subscribe; if that is refused or fails, close the socket with the reason and return None.

    Cancellation leaves no subscription.

    Args:
        call, socket, request, shown, id: as in `watch`.
        needs_too: permission nodes that a user must hold as well.
    """
    try:
        if isinstance(call.principal, UserPrincipal):
            return await _watched_by_user(call, request, shown=shown, id=id, needs_too=needs_too)
        return await call.service.system.watch(shown, id, request)
    except Overloaded as overloaded:
        socket.close(CloseCode.INTERNAL_ERROR, overloaded.code)
    except Refused as refused:
        socket.end(request.channel, refused.code)
    except PersistenceError:
        socket.close(CloseCode.INTERNAL_ERROR, "DATABASE_UNAVAILABLE")
    return None


async def _watched_by_user(
    call: Call,
    request: WatchRequest,
    *,
    shown: Kind[Any, Any] | View[Any],
    id: str,
    needs_too: tuple[str, ...],
) -> Subscription:
    """Subscribe a user who still has the rights for it once it is loaded, or raise what refuses that."""
    user, rights = call.user, call.service.of(RIGHTS)
    asking = _Asking(user.access)

    def begin(epoch: str, offset: int, recovered: bool) -> None:
        for needs in (call.needs, *needs_too):
            demand(needs, asking.access)
        request.opened(epoch, offset, recovered)

    rights.follow(user.user_id, asking, user.access, capped=user.capped)
    try:
        return await call.service.system.watch(shown, id, replace(request, opened=begin))
    finally:
        rights.unfollow(user.user_id, asking)


class _Asking:
    """Knows the rights of a user who is not shown anything yet; implements `RightsObserver`."""

    __slots__ = ("access",)

    def __init__(self, access: Access) -> None:
        self.access = access

    def recheck(self, access: Access) -> None:
        self.access = access


class SingleStream:
    """One subscription and its socket, whose client sends nothing that matters; implements `Listener`.

    Args:
        service: the service.
        socket: its owner's rate limit counts what the client sends.
        subscription: the open subscription.
    """

    __slots__ = ("_pace", "_service", "_socket", "_subscription")

    def __init__(self, service: Service, socket: LiveSocket, subscription: Subscription) -> None:
        self._service = service
        self._socket = socket
        self._subscription = subscription
        self._pace = Pace(service.limits, socket.user_id or socket.session_id)

    def heard(self, message: bytes) -> None:  # noqa: ARG002
        """Count a message and ignore it; a flood closes the socket."""
        if self._pace.take(self._service.clock.now_ms()) is Verdict.CLOSE:
            self._socket.close(CloseCode.FLOOD, "RATE_LIMITED")


class UserStream(SingleStream):
    """The stream of a user, for as long as they have the rights for it; implements `RightsObserver`.

    Args:
        call: the call of the user who opened it; what its route needs must be met for as long as they watch.
        socket: its end ends the subscription.
        subscription: the open subscription.
        needs_too: permission nodes that the user must hold as well.
    """

    __slots__ = ("_needs",)

    def __init__(
        self, call: Call, socket: LiveSocket, subscription: Subscription, *, needs_too: tuple[str, ...] = ()
    ) -> None:
        super().__init__(call.service, socket, subscription)
        self._needs = (call.needs, *needs_too)
        user = call.user
        call.service.of(RIGHTS).follow(user.user_id, self, user.access, capped=user.capped)
        socket.on_close(partial(self._close, user.user_id))

    def recheck(self, access: Access) -> None:
        """Take the user's new rights: end the subscription if they no longer cover it."""
        if all(meets(needs, access) for needs in self._needs):
            self._subscription.recheck()
        else:
            self._subscription.end(FORBIDDEN)

    def _close(self, user_id: str) -> None:
        self._service.of(RIGHTS).unfollow(user_id, self)
        self._subscription.close()


def unannounced(epoch: str, offset: int, recovered: bool) -> None:
    """Ignore the subscription's epoch, offset and recovered, which single-purpose streams do not send."""
