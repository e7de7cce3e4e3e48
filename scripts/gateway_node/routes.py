"""The routes that a gateway carries, and the file from which the next start has them."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec


class Route(msgspec.Struct, frozen=True, rename="camel"):
    """The backend that the players of a host are carried to.

    Args:
        route_host: the host that players connect to, in lower case and A-labels.
        proxy_protocol: whether the backend is told each player's address.
    """

    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool = False


class Routes:
    """All routes of one revision, by host.

    Args:
        revision: the service's number for these routes; 0 where they come from the file.
    """

    def __init__(self, revision: int = 0, routes: Iterable[Route] = ()) -> None:
        self.revision = revision
        self._routes = {route.route_host: route for route in routes}

    def __len__(self) -> int:
        return len(self._routes)

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes.values())

    def of(self, host: str | None) -> Route | None:
        """The route of a host; None where there is none."""
        return None if host is None else self._routes.get(host)


class Kept(msgspec.Struct, frozen=True):
    """The content of the file.

    Args:
        url: the address of the service that has given the routes.
    """

    url: str
    routes: list[Route]


def save(path: Path, url: str, routes: Routes) -> None:
    """Write routes to the file, whole: who reads it meanwhile, or after a crash, finds the former routes or these.

    Raises:
        OSError: they cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(Kept(url, list(routes))))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def load(path: Path, url: str) -> Routes:
    """The routes in the file, as revision 0; empty where the file has none of this service.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file holds something else.
    """
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Kept)
    except FileNotFoundError:
        return Routes()
    return Routes(0, kept.routes if kept.url == url else ())
