"""Fixtures of the stories."""

import pytest

from tests.console.stage import LOOKS, Look
from tests.gateways.play import TOKEN
from tests.networks.conftest import cloudflare, dns_server, place, upstream_seconds
from tests.support.world import world

__all__ = ["cloudflare", "dns_server", "place", "upstream_seconds", "world"]


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look.scheme}-{look.width}")
def look(request: pytest.FixtureRequest) -> Look:
    """How the browsers of a story are set up."""
    look: Look = request.param
    return look


@pytest.fixture
def names() -> dict[str, str]:
    """The settings of gateways and their names."""
    return {
        "gateway_domain": "play.partyline.test",
        "gateway_host": "gw.partyline.test",
        "gateway_token": TOKEN,
    }
