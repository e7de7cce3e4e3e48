"""Mounts: the routes of each domain, and the table of all of them."""

from collections.abc import Mapping, Sequence
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
            for module in mount.modules:
                for declared in vars(module).values():
                    if not isinstance(declared, Route) or declared.handler.__module__ != module.__name__:
                        continue
                    if isinstance(declared, Endpoint):
                        endpoints.append(replace(declared, area=mount.area))
                    elif isinstance(declared, Stream):
                        streams.append(replace(declared, area=mount.area))
            streams += [replace(declared, area=mount.area) for declared in mount.streams]
        seen: set[str] = set()
        for route in (*endpoints, *streams):
            paths = (route.path, *route.aliases) if isinstance(route, Endpoint) else (f"ws {route.path}",)
            for key in (route.name, *(f"{route.method} {PATH_PARAM.sub(_UNNAMED, path)}" for path in paths)):
                if key in seen:
                    raise ValueError(f"declared twice: {key}")
                seen.add(key)
        return cls(tuple(endpoints), tuple(streams), words)
