"""The gateway as a program: until it is told to end."""

import signal
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial

import msgspec
import trio

from scripts.game_server.terminal import first, tell
from scripts.gateway_node.addresses import Permission
from scripts.gateway_node.backends import Backends, Names
from scripts.gateway_node.control import Control
from scripts.gateway_node.counters import Status
from scripts.gateway_node.gateway import Gateway, Plan
from scripts.gateway_node.mc_router import McRouter
from scripts.gateway_node.mc_router_api import RoutesApi, api_at
from scripts.gateway_node.options import read_options
from scripts.gateway_node.service import Rejected, Service, service_at


def main() -> int:
    """Run the gateway until it is told to end by a signal; returns the exit status."""
    given, plan = read_options()
    say = partial(tell, aside=given.json)
    status = 1
    try:
        trio.run(_feed if given.mc_router else _listen, given, plan, say)
        status = 0
    except* Rejected as group:
        tell(f"refused: {first(group)}", aside=True)
    except* OSError as group:
        tell(f"cannot run: {first(group)}", aside=True)
    return status


async def _listen(given: Namespace, plan: Plan, say: Callable[[str], None]) -> None:
    gateway = Gateway(plan, say)

    def show(status: Status) -> None:
        tell(msgspec.json.encode(status).decode() if given.json else status.line())

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


async def _feed(given: Namespace, plan: Plan, say: Callable[[str], None]) -> None:
    public = plan.identity.public_host, plan.identity.port
    backends = Backends(Permission(allowed=plan.allowed, refused=plan.refused), public, Names())
    async with (
        service_at(plan.url) as service,
        api_at(given.mc_router) as router,
        trio.open_nursery() as nursery,
    ):
        fed = McRouter(RoutesApi(router), backends, plan.state, plan.url, say)
        nursery.start_soon(_end_when_told, nursery.cancel_scope.cancel, nursery.cancel_scope)
        nursery.start_soon(fed.run)
        nursery.start_soon(Control(Service(service, plan.identity), fed.carry, lambda: 0, say).run)


async def _end_when_told(stop: Callable[[], None], scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
        stop()
        await anext(signals)
        scope.cancel()


if __name__ == "__main__":
    sys.exit(main())
