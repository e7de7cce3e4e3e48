"""The options of a gateway: on its command line, and in the environment, from which alone the token is taken."""

import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path

from routes.edge.address import Network, parse_networks
from scripts.game_server.terminal import web_address
from scripts.gateway_node.addresses import PRIVATE
from scripts.gateway_node.gateway import ANYWHERE, Plan
from scripts.gateway_node.service import Identity

TOKEN = "PARTYLINE_GATEWAY_TOKEN"  # noqa: S105 (its name)

DESCRIPTION = """\
Carries Minecraft connections by the host name of their handshake, and TLS by its server name, to the game servers
whose routes Partyline knows. It registers with the deployment token (PARTYLINE_GATEWAY_TOKEN in the environment),
keeps the routes that it has while Partyline is away, and ends gently: SIGTERM or Ctrl-C lets nobody in any more, a
second one ends all connections at once.

With --mc-router it listens nowhere, and keeps the routes of an mc-router instead.
"""


def read_options() -> tuple[Namespace, Plan]:
    """All options, and the plan that they make; ends the program where they are not right."""
    it = ArgumentParser(
        prog="partyline-gateway", description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter
    )
    _add_places(it)
    _add_bounds(it)
    given = it.parse_args()
    token = os.environ.get(TOKEN)
    if not token:
        it.error(f"{TOKEN} is not in the environment")
    is_elsewhere = given.mc_router or given.host == ANYWHERE
    if given.public_host is None and is_elsewhere:
        it.error("--public-host is needed: where players connect")
    identity = Identity(
        token=token,
        region=given.region,
        public_host=given.public_host or given.host,
        port=given.public_port or given.port,
        capacity=given.capacity,
    )
    plan = Plan(
        url=given.url,
        identity=identity,
        host=given.host,
        port=given.port,
        state=given.state,
        allowed=() if given.allow_private is None else tuple(given.allow_private) or PRIVATE,
        refused=tuple(given.refuse),
        trusted=tuple(given.trust),
        idle_seconds=given.idle_seconds,
        drain_seconds=given.drain_seconds,
    )
    return given, plan


def _add_places(it: ArgumentParser) -> None:
    add = it.add_argument
    add("--url", type=web_address, default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)")
    add("--host", default="127.0.0.1", help="where it listens; * for every address (%(default)s)")
    add("--port", type=_port, default=25565, help="0 for any (%(default)s)")
    add("--public-host", help="where players connect, a name or an address (that of --host)")
    add("--public-port", type=_port, default=0, help="(that of --port)")
    add("--region", default="eu-west", help="(%(default)s)")
    state = Path(".partyline/gateway.json")
    add(
        "--state",
        type=Path,
        default=state,
        help="where routes are kept, for a start without Partyline (%(default)s)",
    )
    add("--mc-router", type=web_address, metavar="URL", help="the API of an mc-router, whose routes are kept")
    add(
        "--json",
        action="store_true",
        help="reports as JSON, one a line; all else that it says goes to stderr",
    )


def _add_bounds(it: ArgumentParser) -> None:
    add = it.add_argument
    networks = partial(add, type=_network, metavar="NETWORK")
    networks(
        "--allow-private", nargs="*", help="backends may be in these too; without one, in all private ones"
    )
    networks("--refuse", action="append", default=[], help="backends may not be in this one; may be repeated")
    networks(
        "--trust", action="append", default=[], help="proxies here say where players are; may be repeated"
    )
    add("--capacity", type=int, default=2000, help="connections at the same time (%(default)s)")
    add(
        "--idle-seconds",
        type=_seconds,
        default=300.0,
        help="a silent connection ends after these (%(default)g)",
    )
    add(
        "--drain-seconds",
        type=_seconds,
        default=60.0,
        help="connections go on so long at the end (%(default)g)",
    )
    add("--status-seconds", type=_seconds, default=60.0, help="between two reports (%(default)g)")


def _port(text: str) -> int:
    if not (text.isdecimal() and len(text) < 6 and int(text) < 65_536):
        raise ValueError
    return int(text)


def _seconds(text: str) -> float:
    if not 0 < float(text) < 1e9:
        raise ValueError
    return float(text)


def _network(text: str) -> Network:
    return parse_networks((text,))[0]
