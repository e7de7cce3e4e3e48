"""The parts of the shop: its payment provider, and the secrets of webhooks."""

from dataclasses import dataclass

from routes.edge.faults import OperatorFault
from routes.edge.outgoing_http import Upstream
from routes.part import Opening, Part
from routes.shop.provider import Provider
from routes.shop.signatures import Secrets, parse_secrets
from routes.shop.stripe_api import MAX_BYTES, SECONDS, Stripe, is_live


@dataclass(frozen=True, slots=True)
class Senders:
    """Who may send webhooks.

    Args:
        secrets: the secrets that they sign with.
        live: whether events are about real money; others are ignored. None if that is not known.
    """

    secrets: Secrets
    live: bool | None


async def _open_provider(opening: Opening) -> Provider | None:
    config = opening.config
    if config.shop_provider != "stripe":
        return None
    if config.stripe_key is None:
        raise OperatorFault(
            "PARTYLINE_SHOP_PROVIDER is stripe: set PARTYLINE_STRIPE_KEY to Stripe's secret key"
        )
    upstream = Upstream(config.stripe_url, seconds=SECONDS, max_bytes=MAX_BYTES)
    return Stripe(await opening.stack.enter_async_context(upstream), config.stripe_key)


async def _open_senders(opening: Opening) -> Senders:
    config = opening.config
    live = is_live(config.stripe_key) if config.stripe_key and config.shop_provider == "stripe" else None
    return Senders(parse_secrets(config.shop_webhook_secret), live)


PROVIDER = Part(name="payment provider", open=_open_provider)
"""The payment provider; None where an admin marks purchases as paid."""

SENDERS = Part(name="senders of the shop's webhooks", open=_open_senders)
"""Who may send webhooks."""
