"""Mounts: the routes of each domain, and the table of all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType, ModuleType

from routes.edge.declare.route import Endpoint, Route, Stream
from routes.edge.declare.signature import PATH_PARAM

_UNNAMED = r"{\g<rest>}"


@dataclass(frozen=True, slots=True)
class Mount:
    """The routes of one domain.

    Args:
        area: the domain's name in the specification, such as `chat` or `auth`; the tag in OpenAPI.
        modules: the modules that declare its endpoints and streams.
        streams: further streams, which are created by calls and not declared in a module.
    """

    area: str
    modules: tuple[ModuleType, ...] = ()
    streams: tuple[Stream, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteTable:
    """All declared routes, in the order of the mounts.

    Args:
        words: {name on the wire: what it means}, for documents, where a struct does not say it of a field.
    """

    endpoints: tuple[Endpoint, ...]
    streams: tuple[Stream, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, mounts: Sequence[Mount], words: Mapping[str, str] = MappingProxyType({})) -> "RouteTable":
        """Collect the declarations of the mounted modules.

        Raises:
            ValueError: two routes have the same method and path, or the same name.
        """
        endpoints: list[Endpoint] = []
        streams: list[Stream] = []
        for mount in mounts:
            declared = [route for module in mount.modules for route in _routes_of(module)]
            endpoints += [replace(one, area=mount.area) for one in declared if isinstance(one, Endpoint)]
            streams += [replace(one, area=mount.area) for one in declared if isinstance(one, Stream)]
            streams += [replace(one, area=mount.area) for one in mount.streams]
        _check_distinct((*endpoints, *streams))
        return cls(tuple(endpoints), tuple(streams), words)


def _routes_of(module: ModuleType) -> list[Route]:
    """The routes that a module declares itself, in order, without those that it imports."""
    return [
        declared
        for declared in vars(module).values()
        if isinstance(declared, Route) and declared.handler.__module__ == module.__name__
    ]


def _check_distinct(routes: Iterable[Endpoint | Stream]) -> None:
    seen: set[str] = set()
    for route in routes:
        paths = (route.path, *route.aliases) if isinstance(route, Endpoint) else (f"ws {route.path}",)
        for key in (route.name, *(f"{route.method} {PATH_PARAM.sub(_UNNAMED, path)}" for path in paths)):
            if key in seen:
                raise ValueError(f"declared twice: {key}")
            seen.add(key)
