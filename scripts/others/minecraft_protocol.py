"""minecraft-protocol's clients reach its servers by two names, through our gateway."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import trio

from scripts.gateway_node.addresses import PRIVATE
from scripts.gateway_node.gateway import Gateway, Plan
from scripts.gateway_node.service import Identity
from scripts.others import node
from scripts.others.node import expect
from scripts.others.service import answered, game_server, user
from tests.support.process import free_port, server_process
from tests.support.waiting import wait_until

VERSION = "1.68.0"

SCRIPT = Path(__file__).with_suffix(".js")

DOMAIN = "play.partyline.test"

TOKEN = "deployment-token-of-interop"  # noqa: S105 (of a service that lives for a minute)


async def minecraft_protocol() -> None:
    """The whole check, with a service and a gateway of its own.

    Raises:
        NoNode: programs of Node cannot run here.
        Differs: a client did not reach the server that its name leads to.
    """
    await trio.to_thread.run_sync(node.install, f"minecraft-protocol@{VERSION}")
    places = {f"{name}.{DOMAIN}": free_port() for name in ("lobby", "islands")}
    async with server_process(gateway_token=TOKEN, gateway_domain=DOMAIN) as server:
        async with await user(server, "Owner") as owner:
            for host, port in places.items():
                await _lead(owner, host, port)
        with TemporaryDirectory() as folder:
            found = await _through_a_gateway(server.url, Path(folder), places)
    for host in places:
        expect(f"the message of {host}", found[host]["motd"], host)
        expect(f"who is behind {host}", found[host]["farewell"], f"Ann has reached {host}")
    expect("a name that leads nowhere", found["unknown"]["farewell"], "socketClosed")


async def _lead(owner: httpx2.AsyncClient, host: str, port: int) -> None:
    server = await game_server(owner, host)
    route = {"routeHost": host, "backendHost": "127.0.0.1", "backendPort": port}
    await answered(owner.put(f"{server.path}/gateway-route", json=route, headers=server.headers))


async def _through_a_gateway(url: str, folder: Path, places: dict[str, int]) -> Any:
    identity = Identity(token=TOKEN, region="local", public_host="127.0.0.1", port=0, capacity=100)
    plan = Plan(
        url=url, identity=identity, host="127.0.0.1", port=0, state=folder / "routes.json", allowed=PRIVATE
    )
    gateway = Gateway(plan, lambda _line: None)

    async def has_routes() -> bool:
        return gateway.status().routes == len(places)

    async with trio.open_nursery() as nursery:
        await nursery.start(gateway.run)
        await wait_until(has_routes)
        servers = [f"{host}={port}" for host, port in places.items()]
        found = await trio.to_thread.run_sync(partial(node.run, SCRIPT, str(gateway.port), *servers))
        gateway.stop()
    return found
