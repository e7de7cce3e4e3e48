"""Single-purpose streams: one channel on one socket, its snapshots bare (service description §6).

The first frame comes at once, the next ones when something changed. Such a client has nothing to say; what it
sends is counted, so that it cannot keep the server busy, and otherwise passed over. When the viewer may no
longer look, the socket is closed with 4403.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from actors.errors import Overloaded, Refused
from actors.kernel.kind import Kind, View
from actors.kernel.subscription import Subscription, WatchRequest
from persistence.errors import PersistenceError
from routes.edge.call import Call
from routes.edge.close_codes import CloseCode
from routes.edge.frames import BARE
from routes.edge.principal import Access
from routes.edge.query import Clamp
from routes.edge.socket import LiveSocket
from routes.live.pace import Pace, Verdict
from routes.live.rights import FORBIDDEN

Interval = Annotated[int, Clamp(1, 60)]
"""Seconds; accepted on every stream, and without effect where nothing polls (contract §9)."""


class StreamQuery(msgspec.Struct, frozen=True):
    """What every stream takes in its address.

    Args:
        interval: seconds between fallback polls, clamped to 1..60; frames are pushed, so nothing polls.
    """

    interval: Interval = 1


async def show(
    call: Call, socket: LiveSocket, shown: Kind[Any, Any] | View[Any], id: str, *, viewer: object, needs: str
) -> None:
    """Show one owner or view until the socket is closed.

    Args:
        call: that opened the stream.
        socket: open, not multiplexed.
        shown, id: the owner or view.
        viewer: as its `audience` takes it.
        needs: the permission node that the user must hold all the time.

    Raises:
        SocketClosed: the end.
    """
    subscription = await watch(
        call,
        socket,
        WatchRequest(
            outlet=socket,
            viewer=viewer,
            channel=f"{shown.name}:{id}",
            envelope=BARE,
            mode="snapshot",
            opened=unannounced,
        ),
        shown=shown,
        id=id,
    )
    if subscription is None:
        return
    try:
        await attend(call, socket, subscription, needs=needs)
    finally:
        subscription.close()


async def watch(
    call: Call, socket: LiveSocket, request: WatchRequest, *, shown: Kind[Any, Any] | View[Any], id: str
) -> Subscription | None:
    """Subscribe; where that is refused or fails, close the socket with the reason and return None.

    Args:
        call: that opened the stream.
        socket: to be closed.
        request: may have another outlet than the socket.
        shown, id: the owner or view.
    """
    try:
        return await call.service.system.watch(shown, id, request)
    except Overloaded as overloaded:
        socket.close(CloseCode.INTERNAL_ERROR, overloaded.code)
    except Refused as refused:
        socket.end(request.channel, refused.code)
    except PersistenceError:
        socket.close(CloseCode.INTERNAL_ERROR, "DATABASE_UNAVAILABLE")
    return None


async def attend(call: Call, socket: LiveSocket, subscription: Subscription, *, needs: str) -> None:
    """Stay until the socket is closed, and let the subscription end when rights do.

    Args:
        call: that opened the stream.
        socket: to be read.
        subscription: of the socket.
        needs: the permission node.

    Raises:
        SocketClosed: the end.
    """
    service = call.service

    def recheck(access: Access) -> None:
        if access.allows(needs):
            subscription.recheck()
        else:
            subscription.end(FORBIDDEN)

    with service.rights.followed(call.user_id, recheck):
        # Rights that moved between the gate and here were told to nobody.
        _recheck_now(call, recheck)
        pace = Pace(service.limits, socket.session_id)
        while True:
            await socket.receive()
            if pace.take(service.clock.now_ms()) is Verdict.CLOSE:
                socket.close(CloseCode.FLOOD, "RATE_LIMITED")


def _recheck_now(call: Call, recheck: Callable[[Access], None]) -> None:
    access = call.service.users.peek_access(call.user_id)
    if access is None:
        call.service.rights.moved(call.user_id)
    elif access is not call.user.access:
        recheck(access)


def unannounced(epoch: str, offset: int, recovered: bool) -> None:
    """A bare stream does not tell where it stands."""
