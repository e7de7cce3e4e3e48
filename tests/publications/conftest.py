"""Fixtures of publications' tests."""

from tests.networks.conftest import cloudflare, dns_server, place
from tests.support.world import world

__all__ = ["cloudflare", "dns_server", "place", "world"]
