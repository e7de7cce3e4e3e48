"""The parts of the shop: its payment provider, and the secrets of webhooks."""

from dataclasses import dataclass

from routes.config.config import Config
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


def check_provider(config: Config) -> str | None:
    """The secret key of the payment provider; None where an admin marks purchases as paid.

    Args:
        config: the configuration.

    Raises:
        OperatorFault: the provider needs a key, and has none.
    """
    if config.shop_provider != "stripe":
        return None
    if config.stripe_key is None:
        raise OperatorFault(
            "PARTYLINE_SHOP_PROVIDER is stripe: set PARTYLINE_STRIPE_KEY to Stripe's secret key"
        )
    return config.stripe_key


def check_secrets(config: Config) -> Secrets:
    """The secrets that sign the provider's webhooks.

    Args:
        config: the configuration.

    Raises:
        OperatorFault: there are too many.
    """
    return parse_secrets(config.shop_webhook_secret)


async def _open_provider(opening: Opening) -> Provider | None:
    key = check_provider(opening.config)
    if key is None:
        return None
    upstream = Upstream(opening.config.stripe_url, seconds=SECONDS, max_bytes=MAX_BYTES)
    return Stripe(await opening.stack.enter_async_context(upstream), key)


async def _open_senders(opening: Opening) -> Senders:
    key = check_provider(opening.config)
    return Senders(check_secrets(opening.config), None if key is None else is_live(key))


PROVIDER = Part(name="payment provider", open=_open_provider)
"""The payment provider; None where an admin marks purchases as paid."""

SENDERS = Part(name="senders of the shop's webhooks", open=_open_senders)
"""Who may send webhooks."""
