"""The part of the shop: its payment provider."""

from routes.part import Opening, Part
from routes.shop.provider import Provider


async def _open(opening: Opening) -> Provider | None:  # noqa: ARG001
    return None


PROVIDER = Part(name="payment provider", open=_open)
"""The payment provider; None where an admin marks purchases as paid."""
