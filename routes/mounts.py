"""Every domain of the edge, mounted.

`MOUNTS` is the service's table of contents, one line a domain. `create_app` makes the ASGI application out of it,
for our own server as for any other: `hypercorn -k trio 'routes:create_app()'`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from routes import admin, auth, ip, operations, profile, reports, setup
from routes.capes import catalog as cape_catalog
from routes.capes import moderation as cape_moderation
from routes.capes import own as own_capes
from routes.capes import selection as cape_selection
from routes.capes import terms as cape_terms
from routes.chat import attachments, conversations, messages, polls, streams
from routes.connect import (
    commands,
    extensions,
    policy,
    secrets,
    servers,
    sessions,
    settings,
    social_friends,
    social_party,
)
from routes.connect import invites as server_invites
from routes.connect import members as server_members
from routes.connect import streams as server_streams
from routes.edge.config.table import Config, process_environment, read_config
from routes.edge.declare.endpoint import Mount, RouteTable
from routes.edge.pipeline.dispatch import Edge
from routes.edge.server.quart_app import EdgeApp
from routes.friends import blocks, links, lists, requests
from routes.friends import streams as friends_live
from routes.live import social
from routes.logs import configure_logging
from routes.networks import dns, domains, gateway_routes, networks
from routes.notifications import listing
from routes.party import invites as party_invites
from routes.party import lobby, members
from routes.party import streams as party_live
from routes.people import erasure, progress, public, shares
from routes.publications import own as profile_servers
from routes.publications import public as public_servers
from routes.publications import status, targets
from routes.saved import others as servers_of_others
from routes.saved import own as own_servers
from routes.service import Service, open_service
from routes.setup import announce_setup
from routes.totems import choosing as totem_choosing
from routes.totems import models as totem_models

MOUNTS = (
    Mount("operations", (operations, setup)),
    Mount("auth", (auth,)),
    Mount("admin", (admin, erasure)),
    Mount("profile", (profile, shares, progress)),
    Mount("public", (public,)),
    Mount("saved servers", (own_servers, servers_of_others)),
    Mount("capes", (cape_catalog, own_capes, cape_selection, cape_terms, cape_moderation)),
    Mount("notifications", (listing,)),
    Mount("reports", (reports,)),
    Mount("chat", (conversations, messages, polls, attachments, streams, social)),
    Mount(
        "connect",
        (servers, secrets, sessions, commands, settings, extensions, server_streams, gateway_routes),
    ),
    Mount("publications", (targets, status, profile_servers, public_servers)),
    Mount("server members", (server_members, server_invites, policy)),
    Mount("networks", (networks, domains, dns)),
    Mount("server friends", (social_friends,)),
    Mount("server party", (social_party,)),
    Mount("friends", (lists, requests, links, blocks, friends_live)),
    Mount("party", (members, party_invites, lobby, party_live)),
    Mount("totem", (totem_models, totem_choosing)),
    Mount("ip", (ip,)),
)


def create_app(config: Config | None = None, service: Service | None = None) -> EdgeApp:
    """The application. Its lifespan opens the service before the first request and closes it after the last.

    Args:
        config: None reads the environment and `.env`.
        service: one that is open already and stays open; None opens one.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    table = RouteTable.of(MOUNTS)
    settings = service.config if service is not None else config or read_config(process_environment())

    @asynccontextmanager
    async def opened() -> AsyncIterator[Edge]:
        if service is not None:
            yield Edge(service, table)
            return
        configure_logging(settings)
        async with open_service(settings) as own:
            await announce_setup(own)
            yield Edge(own, table)

    return EdgeApp(table, opened)
