"""What these tests share."""

from tests.networks.conftest import cloudflare, dns_server, names, place, upstream_seconds
from tests.support.world import world

__all__ = ["cloudflare", "dns_server", "names", "place", "upstream_seconds", "world"]
