"""The Domain record of the shop."""

from routes.domain import Domain
from routes.edge.declare.endpoint import Mount
from routes.shop import catalog, checkout, products, purchases, streams
from routes.shop.channels import CHANNEL
from routes.shop.jobs import jobs_of
from routes.shop.parts import PROVIDER
from routes.shop.reactions import REACTIONS, RECONCILIATIONS

SHOP = Domain(
    name="shop",
    mounts=(Mount("shop", (catalog, checkout, purchases, products, streams)),),
    parts=(PROVIDER,),
    channels=(CHANNEL,),
    jobs=jobs_of,
    reactions=REACTIONS,
    reconciliations=RECONCILIATIONS,
)
