"""The command line of the gateway."""

import os
import signal
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import trio

from routes.edge.address import Network, parse_networks
from scripts.gateway_node import mc_router
from scripts.gateway_node.addresses import PRIVATE, Permission
from scripts.gateway_node.backends import Backends, Names
from scripts.gateway_node.control import Control
from scripts.gateway_node.counters import Status
from scripts.gateway_node.gateway import Gateway, Plan
from scripts.gateway_node.mc_router import McRouter
from scripts.gateway_node.service import Identity, Rejected, Service, service_at

DESCRIPTION = """\
Carries Minecraft connections by the host name of their handshake, and TLS by its server name, to the game servers
whose routes Partyline knows. It registers with the deployment token (PARTYLINE_GATEWAY_TOKEN in the environment),
keeps the routes that it has while Partyline is away, and ends gently: SIGTERM or Ctrl-C lets nobody in any more, a
second one ends all connections at once.

With --mc-router it listens nowhere, and keeps the routes of an mc-router instead.
"""


def parser() -> ArgumentParser:
    """All options."""
    it = ArgumentParser(
        prog="scripts/gateway", description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter
    )
    add = it.add_argument
    add("--url", default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)")
    add("--host", default="127.0.0.1", help="where it listens; * for every address (%(default)s)")
    add("--port", type=int, default=25565, help="0 for any (%(default)s)")
    add("--public-host", help="where players connect, a name or an address (that of --host)")
    add("--public-port", type=int, default=0, help="(that of --port)")
    add("--region", default="eu-west", help="(%(default)s)")
    add("--capacity", type=int, default=2000, help="connections at the same time (%(default)s)")
    add(
        "--state",
        type=Path,
        default=Path(".partyline/gateway.json"),
        help="where routes are kept, for a start while Partyline is away (%(default)s)",
    )
    add(
        "--allow-private",
        type=_network,
        nargs="*",
        metavar="NETWORK",
        help="backends may be in these networks too; without one, in all private ones and on this machine",
    )
    add(
        "--refuse",
        type=_network,
        action="append",
        default=[],
        metavar="NETWORK",
        help="backends may not be here, such as at a load balancer in front of the gateways; may be repeated",
    )
    add(
        "--trust",
        type=_network,
        action="append",
        default=[],
        metavar="NETWORK",
        help="proxies that say where a connection comes from, by PROXY protocol version 2; may be repeated",
    )
    add(
        "--idle-seconds", type=float, default=300.0, help="a silent connection ends after these (%(default)g)"
    )
    add(
        "--drain-seconds",
        type=float,
        default=60.0,
        help="connections may go on so long at the end (%(default)g)",
    )
    add("--status-seconds", type=float, default=60.0, help="between two reports (%(default)g)")
    add(
        "--json",
        action="store_true",
        help="reports as JSON, one a line; all else that it says goes to stderr",
    )
    add(
        "--mc-router",
        metavar="URL",
        help="the API of an mc-router, whose routes are kept; it needs --public-host",
    )
    return it


def main() -> int:
    """Run until it is told to end; returns the exit status."""
    it = parser()
    given = it.parse_args()
    token = os.environ.get("PARTYLINE_GATEWAY_TOKEN")
    if not token:
        it.error("PARTYLINE_GATEWAY_TOKEN is not in the environment")
    public_host = given.public_host or (None if given.mc_router or given.host == "*" else given.host)
    if public_host is None:
        it.error("--public-host is needed: where players connect")
    identity = Identity(
        token=token,
        region=given.region,
        public_host=public_host,
        port=given.public_port or given.port,
        capacity=given.capacity,
    )
    say = partial(print, flush=True, file=sys.stderr if given.json else sys.stdout)
    status = 1
    try:
        trio.run(_feed if given.mc_router else _listen, given, identity, say)
        status = 0
    except* Rejected as group:
        print(f"refused: {_first(group)}", file=sys.stderr)
    except* OSError as group:
        print(f"cannot run: {_first(group)}", file=sys.stderr)
    return status


async def _listen(given: Namespace, identity: Identity, say: Callable[[str], None]) -> None:
    plan = Plan(
        url=given.url.rstrip("/"),
        identity=identity,
        host=given.host,
        port=given.port,
        state=given.state,
        allowed=_allowed(given),
        refused=tuple(given.refuse),
        trusted=tuple(given.trust),
        idle_seconds=given.idle_seconds,
        drain_seconds=given.drain_seconds,
    )
    gateway = Gateway(plan, say)

    def show(status: Status) -> None:
        print(msgspec.json.encode(status).decode() if given.json else status.line(), flush=True)

    async def report() -> None:
        while True:
            await trio.sleep(given.status_seconds)
            show(gateway.status())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_when_told, gateway.stop, nursery.cancel_scope)
        async with trio.open_nursery() as running:
            await running.start(gateway.run)
            nursery.start_soon(report)
        show(gateway.status())
        nursery.cancel_scope.cancel()


async def _feed(given: Namespace, identity: Identity, say: Callable[[str], None]) -> None:
    permission = Permission(allowed=_allowed(given), refused=tuple(given.refuse))
    backends = Backends(permission, (identity.public_host, identity.port), Names())
    url = given.url.rstrip("/")
    async with (
        service_at(url) as service,
        mc_router.api_at(given.mc_router.rstrip("/")) as router,
        trio.open_nursery() as nursery,
    ):
        fed = McRouter(router, backends, given.state, url, say)
        nursery.start_soon(_end_when_told, nursery.cancel_scope.cancel, nursery.cancel_scope)
        nursery.start_soon(fed.run)
        nursery.start_soon(Control(Service(service, identity), fed.carry, lambda: 0, say).run)


async def _end_when_told(stop: Callable[[], None], scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
        stop()
        await anext(signals)
        scope.cancel()


def _network(text: str) -> Network:
    return parse_networks((text,))[0]


def _allowed(given: Namespace) -> tuple[Network, ...]:
    if given.allow_private is None:
        return ()
    return tuple(given.allow_private) or PRIVATE


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


if __name__ == "__main__":
    sys.exit(main())
