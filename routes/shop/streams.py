"""The stream of a user's purchases (contract §10)."""

import msgspec

from actors.shop.public import PurchaseEntry
from actors.shop.view import SHOP, PurchasesSnapshot, PurchaseUpdated
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import AUTHENTICATED
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import StreamQuery, show_own


class PurchaseTold(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="purchase_updated"):
    """A purchase that is new or has changed."""

    purchase: PurchaseEntry


@stream("/v1/shop/events", needs=AUTHENTICATED, sends=(PurchasesSnapshot, PurchaseTold))
async def shop_events(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """The newest 100 purchases that the caller pays or receives, then each that is new or changes.

    A slow reader gets the snapshot again in place of the events that it missed.
    """
    return await show_own(call, socket, SHOP, told=_frame_of)


def _frame_of(_name: str, data: PurchaseUpdated) -> PurchaseTold:
    return PurchaseTold(data.purchase)
