"""`partyline routes` and `partyline config`: lists of routes and settings, as text."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from routes.config.config import listing
from routes.edge.principal import Need

if TYPE_CHECKING:
    from routes.edge.declare.mounts import RouteTable
    from routes.edge.declare.route import Route


def list_routes(table: "RouteTable") -> Iterator[str]:
    """One line for each route, sorted by path: method, path, required permission, rate (`name=calls/seconds`), and
    handler."""
    rows = [
        ("WS" if route in table.streams else route.method, path, _needs(route), _rate(route), _handler(route))
        for route in (*table.endpoints, *table.streams)
        for path in route.templates
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for *cells, handler in rows:
        yield "  ".join([*(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)), handler])


def list_settings(environ: Mapping[str, str]) -> Iterator[str]:
    """Two lines for each setting, its name with its default, and its meaning; a third with its value if it is set.

    Args:
        environ: the environment variables that set them, as in `os.environ`.
    """
    for setting, text in listing(environ):
        yield f"{setting.name}={setting.default or ''}"
        yield f"    {setting.says}"
        if text:
            yield f"    now: {text}"


def _needs(route: "Route") -> str:
    return route.needs.value if isinstance(route.needs, Need) else route.needs


def _rate(route: "Route") -> str:
    return f"{route.rate.name}={route.rate.quota}/{route.rate.window_seconds}s"


def _handler(route: "Route") -> str:
    return f"{route.handler.__module__}.{route.handler.__name__}"
