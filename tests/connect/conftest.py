"""Fixtures of game servers' tests."""

from tests.networks.conftest import cloudflare, dns_server
from tests.support.world import world

__all__ = ["cloudflare", "dns_server", "world"]
