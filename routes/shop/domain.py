"""The Domain record of the shop."""

from persistence.shop.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.shop import catalog, checkout, products, purchases, streams, webhooks
from routes.shop.channels import CHANNEL
from routes.shop.jobs import jobs_of
from routes.shop.parts import PROVIDER, SENDERS
from routes.shop.reactions import REACTIONS, RECONCILIATIONS

SHOP = Domain(
    name="shop",
    mounts=(Mount("shop", (catalog, checkout, purchases, products, webhooks, streams)),),
    parts=(PROVIDER, SENDERS),
    channels=(CHANNEL,),
    jobs=jobs_of,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
    exported=EXPORTED,
)
