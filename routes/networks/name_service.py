"""The part of networks: the DNS resolver, the DNS automation, and the service's own names."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from actors.hostnames import normal_host
from actors.networks.record_hosts import RecordHosts
from routes.config.config import Config
from routes.edge.outgoing_http import Upstream
from routes.networks import cloudflare
from routes.networks.automation import Automation
from routes.networks.cloudflare import Cloudflare
from routes.networks.provider_tokens import ProviderTokens
from routes.networks.resolver import Resolver
from routes.part import Opening, Part

CONNECTIONS = 20
"""Most connections to the provider at the same time."""


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """The objects that requests about networks use.

    Args:
        resolver: looks up names in DNS.
        cloudflare: the provider's API.
        automation: writes the records of networks there.
        tokens: seals and opens the tokens for that API.
        zones: the service's own names, in A-labels; no user may claim one, nor a name above or below one.
        gateway_domain: the domain below which servers may take names without a claim, or None.
        record_hosts: the hosts to which claimed domains lead, and whose addresses the DNS names of gateway routes get.
    """

    resolver: Resolver
    cloudflare: Cloudflare
    automation: Automation
    tokens: ProviderTokens
    zones: frozenset[str]
    gateway_domain: str | None
    record_hosts: RecordHosts


async def _open(opening: Opening) -> Networks:
    config = opening.config
    provider = Upstream(
        config.cloudflare_url,
        seconds=cloudflare.SECONDS,
        max_bytes=cloudflare.MAX_BYTES,
        connections=CONNECTIONS,
    )
    client = Cloudflare(await opening.stack.enter_async_context(provider))
    resolver = Resolver(config.dns_server)
    tokens = ProviderTokens(opening.keys, opening.random_bytes)
    return Networks(
        resolver=resolver,
        cloudflare=client,
        automation=Automation(opening.database, opening.clock, client, resolver, tokens),
        tokens=tokens,
        zones=_zones(config),
        gateway_domain=config.gateway_domain,
        record_hosts=RecordHosts(config.gateway_host, config.gateway_domain),
    )


def _zones(config: Config) -> frozenset[str]:
    hosts = (config.gateway_domain, config.gateway_host, urlsplit(config.base_url).hostname)
    named = (normal_host(host) for host in hosts if host is not None)
    return frozenset(name for name in named if name is not None)


NAME_SERVICE = Part(name="names of networks", open=_open)
"""The resolver and the automation of DNS. No lookup is made before a request needs it."""
