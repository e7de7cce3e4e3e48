"""The routes that a gateway carries, and the file that they outlive it in."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec


class Route(msgspec.Struct, frozen=True, rename="camel"):
    """What lies behind a host.

    Args:
        route_host: that players connect to, in lower case and A-labels.
        proxy_protocol: whether the backend is told each player's address.
    """

    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool = False


class Routes:
    """All routes of one revision.

    Args:
        revision: of the service; 0 for those that it has not given.
    """

    def __init__(self, revision: int = 0, routes: Iterable[Route] = ()) -> None:
        self.revision = revision
        self._routes = {route.route_host: route for route in routes}

    def __len__(self) -> int:
        return len(self._routes)

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes.values())

    def of(self, host: str | None) -> Route | None:
        """What lies behind a host, or None."""
        return None if host is None else self._routes.get(host)


class Kept(msgspec.Struct, frozen=True):
    """What stands in the file.

    Args:
        url: of the service that has given them.
    """

    url: str
    routes: list[Route]


def save(path: Path, url: str, routes: Routes) -> None:
    """Keep routes; whoever reads the file meanwhile, or after a crash, finds the former ones or these.

    Raises:
        OSError: they are not kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(Kept(url, list(routes))))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def load(path: Path, url: str) -> Routes:
    """The routes that were kept, as revision 0; none where there are none of this service.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds something else.
    """
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Kept)
    except FileNotFoundError:
        return Routes()
    return Routes(0, kept.routes if kept.url == url else ())
