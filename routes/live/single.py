"""Single-purpose streams: one channel on one socket, its snapshots bare (service description §6).

The first frame comes at once, the next ones when something changed. Such a client has nothing to say; what it
sends is counted, so that it cannot keep the server busy, and otherwise passed over. When the viewer may no
longer look, the socket is closed with 4403.
"""

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
from routes.edge.principal import Access, UserPrincipal
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.frames import BARE
from routes.edge.websocket.socket import LiveSocket
from routes.live.pace import Pace, Verdict
from routes.live.rights import FORBIDDEN
from routes.service import Service
from routes.users.parts import RIGHTS

Interval = Annotated[int, Clamp(1, 60)]
"""Seconds; accepted on every stream, and without effect where nothing polls (contract §9)."""


class StreamQuery(msgspec.Struct, frozen=True):
    """What every stream takes in its address.

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
    needs: str | None,
) -> Listener | None:
    """Show one owner or view until the socket is closed.

    Args:
        call: that opened the stream.
        socket: open, not multiplexed.
        shown, id: the owner or view.
        viewer: as its `audience` takes it.
        needs: the permission node that the user must hold all the time, or None.

    Returns:
        What the handler of the stream returns.
    """
    request = WatchRequest(
        sink=socket,
        viewer=viewer,
        channel=f"{shown.name}:{id}",
        envelope=BARE,
        mode="snapshot",
        opened=unannounced,
    )
    return await watch(call, socket, request, shown=shown, id=id, needs=needs)


async def watch(
    call: Call,
    socket: LiveSocket,
    request: WatchRequest,
    *,
    shown: Kind[Any, Any] | View[Any],
    id: str,
    needs: str | None,
) -> Listener | None:
    """Subscribe; where that is refused or fails, close the socket with the reason and return None.

    Args:
        call: that opened the stream.
        socket: to be closed; its end ends the subscription.
        request: may have another sink than the socket.
        shown, id: the owner or view.
        needs: as for `show`.
    """
    try:
        subscription = await call.service.system.watch(shown, id, request)
    except Overloaded as overloaded:
        socket.close(CloseCode.INTERNAL_ERROR, overloaded.code)
    except Refused as refused:
        socket.end(request.channel, refused.code)
    except PersistenceError:
        socket.close(CloseCode.INTERNAL_ERROR, "DATABASE_UNAVAILABLE")
    else:
        return SingleStream(call.service, socket, call.user, subscription, needs=needs)
    return None


class SingleStream:
    """One subscription and its socket; implements `Listener` and `RightsObserver`.

    Args:
        service: everything that is open.
        socket: whose end ends the subscription.
        user: the viewer.
        subscription: open.
        needs: the permission node.
    """

    __slots__ = ("_needs", "_pace", "_service", "_socket", "_subscription")

    def __init__(
        self,
        service: Service,
        socket: LiveSocket,
        user: UserPrincipal,
        subscription: Subscription,
        *,
        needs: str | None,
    ) -> None:
        self._service = service
        self._socket = socket
        self._subscription = subscription
        self._needs = needs
        self._pace = Pace(service.limits, socket.user_id or socket.session_id)
        service.of(RIGHTS).follow(user.user_id, self, user.access, capped=user.capped)
        socket.on_close(partial(self._close, user.user_id))

    def heard(self, message: bytes) -> None:  # noqa: ARG002
        """As in `Listener`: it is counted."""
        if self._pace.take(self._service.clock.now_ms()) is Verdict.CLOSE:
            self._socket.close(CloseCode.FLOOD, "RATE_LIMITED")

    def recheck(self, access: Access) -> None:
        """As in `RightsObserver`."""
        if self._needs is None or access.allows(self._needs):
            self._subscription.recheck()
        else:
            self._subscription.end(FORBIDDEN)

    def _close(self, user_id: str) -> None:
        self._service.of(RIGHTS).unfollow(user_id, self)
        self._subscription.close()


def unannounced(epoch: str, offset: int, recovered: bool) -> None:
    """A bare stream does not tell where it stands."""
