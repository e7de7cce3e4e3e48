"""Several sites behind one port, and the routes that make them go wrong.

`/stripe/v1/…` is the site `stripe`. Below `/_control/stripe/` a site is told what to do, with JSON bodies:

    POST   /_control/stripe/faults    {"fault": "500", "on": "POST /v1/checkout/sessions", "times": 1}
    DELETE /_control/stripe/faults    forget all of them, and release what is held
    POST   /_control/stripe/release   release what is held
    GET    /_control/stripe/sessions
    POST   /_control/stripe/sessions  {"session": "cs_…", "do": "pay"}
    POST   /_control/stripe/delivery  {"copies": 2, "held": true}
    POST   /_control/stripe/flush     {"order": "reversed"}

`/modrinth/v2/…` and `/curseforge/v1/…` have faults too; any request can also name one in a header: `X-Fault: 410`.

    GET    /_control/modrinth/asked   what has come: [[method, path, query]]; of CurseForge as well
    POST   /_control/modrinth/retry   {"after": "7"}: the header Retry-After of failures; of CurseForge as well
    POST   /_control/modrinth/limits  {"remaining": 0, "reset": 30}: the headers X-Ratelimit-… of all answers
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import trio

from scripts.upstreams.faults import Faults
from scripts.upstreams.http import HttpServer, Reply, Request, as_json

CONTROL = "_control"


class Site(Protocol):
    """One server of another company, below a path of its own."""

    base_url: str
    faults: Faults

    async def answer(self, request: Request) -> Reply:
        """Answer a request; its path is that below the site."""
        ...

    def control(self, line: str, body: Mapping[str, Any]) -> Reply | None:
        """Do what a control route says, beside those about faults; None where there is no such route.

        Raises:
            ValueError, KeyError: the body is not what the route takes.
        """
        ...

    async def run(self, task_status: trio.TaskStatus[None]) -> None:
        """Do what the site does beside answering, until cancelled."""
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
                await nursery.start(site.run)
            task_status.started()

    async def _answer(self, request: Request) -> Reply:
        name, _, rest = request.path.lstrip("/").partition("/")
        try:
            if name == CONTROL:
                name, _, rest = rest.partition("/")
                return _controlled(self.sites[name], f"{request.method} /{rest}", request.json())
            return await self.sites[name].answer(replace(request, path=f"/{rest}"))
        except (KeyError, ValueError) as error:
            return as_json(400, {"error": str(error)})


def _controlled(site: Site, line: str, body: Mapping[str, Any]) -> Reply:
    match line:
        case "POST /faults":
            site.faults.add(str(body["fault"]), on=str(body.get("on", "")), times=int(body.get("times", 1)))
        case "DELETE /faults":
            site.faults.clear()
        case "POST /release":
            site.faults.release()
        case _:
            return site.control(line, body) or as_json(404, {"error": f"no route {line}"})
    return as_json(200, {})
