"""Several sites behind one port, and the routes that make them go wrong.

`/stripe/v1/…` is the site `stripe`. Below `/_control/stripe/` a site is told what to do, with JSON bodies:

    POST   /_control/stripe/faults    {"fault": "500", "on": "POST /v1/checkout/sessions", "times": 1}
    DELETE /_control/stripe/faults    forget all of them, and release what is held
    POST   /_control/stripe/release   release what is held
    GET    /_control/stripe/sessions
    POST   /_control/stripe/sessions  {"session": "cs_…", "do": "pay"}
    POST   /_control/stripe/delivery  {"copies": 2, "held": true}
    POST   /_control/stripe/flush     {"order": "reversed"}
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import trio

from scripts.upstreams.deliveries import Deliveries
from scripts.upstreams.faults import Faults
from scripts.upstreams.http import HttpServer, Reply, Request, as_json
from scripts.upstreams.stripe import StripeSite, actions

CONTROL = "_control"


class Site(Protocol):
    """One server of others."""

    base_url: str
    faults: Faults

    async def answer(self, request: Request) -> Reply:
        """Answer a request; its path is that below the site."""
        ...


@dataclass
class Sites:
    """Serves sites, each below `/<its name>`.

    Args:
        sites: {name: site}.
        port: 0 to let the system choose.
    """

    sites: Mapping[str, Site]
    port: int = 0

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; started once each site knows its address."""
        server = HttpServer(self._answer, self.port)
        async with trio.open_nursery() as nursery:
            await nursery.start(server.serve)
            self.port = server.port
            for name, site in self.sites.items():
                site.base_url = f"http://{server.host}:{server.port}/{name}"
                if isinstance(site, StripeSite):
                    await nursery.start(site.deliveries.run)
            task_status.started()

    async def _answer(self, request: Request) -> Reply:
        name, _, rest = request.path.lstrip("/").partition("/")
        try:
            if name == CONTROL:
                name, _, rest = rest.partition("/")
                return _controlled(self.sites[name], replace(request, path=f"/{rest}"))
            return await self.sites[name].answer(replace(request, path=f"/{rest}"))
        except (KeyError, ValueError) as error:
            return as_json(400, {"error": str(error)})


def _controlled(site: Site, request: Request) -> Reply:
    line, body = f"{request.method} {request.path}", request.json()
    match line:
        case "POST /faults":
            site.faults.add(str(body["fault"]), on=str(body.get("on", "")), times=int(body.get("times", 1)))
        case "DELETE /faults":
            site.faults.clear()
        case "POST /release":
            site.faults.release()
        case _ if isinstance(site, StripeSite):
            return _controlled_stripe(site, line, body)
        case _:
            return as_json(404, {"error": f"no route {line}"})
    return as_json(200, {})


def _controlled_stripe(site: StripeSite, line: str, body: Mapping[str, object]) -> Reply:
    match line:
        case "GET /sessions":
            return as_json(200, [session.shown() for session in site.sessions.values()])
        case "POST /sessions":
            dict(actions(site))[str(body["do"])](str(body["session"]))
        case "POST /delivery":
            _deliver(site.deliveries, body)
        case "POST /flush":
            order = body.get("order", "same")
            if order not in ("same", "reversed", "shuffled"):
                raise ValueError("order is same, reversed or shuffled")
            site.deliveries.flush(order)
        case _:
            return as_json(404, {"error": f"no route {line}"})
    return as_json(200, {})


def _deliver(deliveries: Deliveries, body: Mapping[str, object]) -> None:
    deliveries.copies = int(str(body.get("copies", deliveries.copies)))
    deliveries.held = bool(body.get("held", deliveries.held))
