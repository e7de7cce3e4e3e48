"""All of networks that the service holds: who asks DNS, who writes it, and which names are the service's own."""

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from actors.kernel.clock import Clock
from actors.networks.hostnames import normal_host
from persistence.bridge import Database
from routes.edge.config.table import Config
from routes.edge.identity.keys import Keys
from routes.edge.identity.outbound import trusted_authorities
from routes.edge.identity.vault import Vault
from routes.networks.automation import PURPOSE, Automation
from routes.networks.cloudflare import Cloudflare
from routes.networks.resolver import Resolver

CONNECTIONS = 20
"""Connections to the provider at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """What requests about networks look at.

    Args:
        resolver: asks DNS.
        cloudflare: the provider's API.
        automation: keeps records there.
        zones: names that nobody may claim, nor any above or below them.
        gateway_domain: below which gateways give out names, or None.
        gateway_host: where such names and claimed domains point, or None.
    """

    resolver: Resolver
    cloudflare: Cloudflare
    automation: Automation
    zones: frozenset[str]
    gateway_domain: str | None
    gateway_host: str | None


async def open_networks(
    stack: AsyncExitStack,
    config: Config,
    database: Database,
    clock: Clock,
    keys: Keys,
) -> Networks:
    """Everything that asks or writes DNS; closed with the stack. Nothing is asked before somebody wants to know.

    Args:
        stack: closes the connections to the provider.
    """
    client = await stack.enter_async_context(
        httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            verify=trusted_authorities(),
            limits=httpx2.Limits(max_connections=CONNECTIONS),
        )
    )
    resolver, cloudflare = Resolver(config.dns_server), Cloudflare(client, config.cloudflare_url)
    vault = Vault(keys, PURPOSE, secrets.token_bytes)
    return Networks(
        resolver=resolver,
        cloudflare=cloudflare,
        automation=Automation(database, clock, cloudflare, resolver, vault),
        zones=_zones(config),
        gateway_domain=config.gateway_domain,
        gateway_host=config.gateway_host or config.gateway_domain,
    )


def _zones(config: Config) -> frozenset[str]:
    hosts = (config.gateway_domain, config.gateway_host, urlsplit(config.base_url).hostname)
    named = (normal_host(host) for host in hosts if host is not None)
    return frozenset(name for name in named if name is not None)
