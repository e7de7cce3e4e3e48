"""The channel `shop` of `/v1/social/live`.

| snapshot          | events in delta mode |
|-------------------|----------------------|
| PurchasesSnapshot | purchase_updated     |
"""

from actors.shop.view import NAME, SHOP, PurchasesSnapshot, PurchaseUpdated
from routes.edge.declare.shown import Shown
from routes.live.channel import LiveChannel, the_user

CHANNEL = LiveChannel(
    name=NAME,
    shown=lambda _service: SHOP,
    viewer=the_user,
    shows=Shown(
        says="The newest purchases that the user pays or receives.",
        snapshot=PurchasesSnapshot,
        events={"purchase_updated": PurchaseUpdated},
    ),
)
