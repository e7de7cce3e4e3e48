"""The channel `shop` of `/v1/social/live`.

| snapshot          | events in delta mode |
|-------------------|----------------------|
| PurchasesSnapshot | purchase_updated     |
"""

from actors.shop.view import NAME, SHOP, ShopViewer
from routes.live.channel import LiveChannel

CHANNEL = LiveChannel(
    name=NAME,
    needs=None,
    shown=lambda _service: SHOP,
    viewer=lambda user_id, _: ShopViewer(user_id),
)
