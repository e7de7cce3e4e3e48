"""The stream of a user's purchases (contract §10)."""

import msgspec

from actors.kernel.sink import Prepared
from actors.kernel.subscription import WatchRequest
from actors.shop.public import PurchaseEntry
from actors.shop.view import SHOP, PurchasesSnapshot, PurchaseUpdated, ShopViewer
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import AUTHENTICATED
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import StreamQuery, unannounced, watch


class PurchaseTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="purchase_updated"):
    """A purchase that is new or has changed."""

    purchase: PurchaseEntry


class _Envelope:
    """Implements `Envelope`: snapshots are bare, and an event's name is its `type`."""

    __slots__ = ()

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:  # noqa: ARG002
        """A frame of the bare snapshot, `data`, which has a `type` of its own; the rest is not sent."""
        return prepare(data)

    def event(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int | None,  # noqa: ARG002
        name: str,
        data: object,
        *,
        self_: object | None,  # noqa: ARG002
    ) -> Prepared:
        """A frame of one event.

        Raises:
            TypeError: `data` is no PurchaseUpdated, the only event of the view; `name` is in the text.
        """
        if not isinstance(data, PurchaseUpdated):
            raise TypeError(f"{name} is no event of purchases")
        return prepare(PurchaseTold(data.purchase))


_ENVELOPE = _Envelope()


@stream("/v1/shop/events", needs=AUTHENTICATED, sends=(PurchasesSnapshot, PurchaseTold))
async def shop_events(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """GET /v1/shop/events: the newest 100 purchases that the caller pays or receives, then each that is new or changes.

    A slow reader gets the snapshot again in place of the events that it missed.
    """
    request = WatchRequest(
        sink=socket,
        viewer=ShopViewer(call.user_id),
        channel=f"{SHOP.name}:{call.user_id}",
        envelope=_ENVELOPE,
        mode="delta",
        opened=unannounced,
    )
    return await watch(call, socket, request, shown=SHOP, id=call.user_id, needs=None)
