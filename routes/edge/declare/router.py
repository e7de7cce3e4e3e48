"""Finds the declared route of a request without Werkzeug: by one dict lookup, or one walk along the path's segments.

What is not found here is looked up by Werkzeug, which handles everything else: rules added to the application by
hand, and the difference between 404 and 405. So the router may miss a route, but must never find one that Werkzeug
would not; where both a declared rule and another one match, the declared one wins.

At each segment a word wins over a `{parameter}`, and both over a `{*rest}`, which takes the segments that are left: at
least one, whose first is not empty.
"""

import re

from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Route

WEBSOCKET = "WEBSOCKET"
"""The method under which streams are registered."""

_PARAMETER = re.compile(r"\{\*?(\w+)\}")

Found = tuple[Route, dict[str, str]]
"""A route, and {camelCase name: text} of its path."""


class _Node:
    """A node in the tree of path segments."""

    __slots__ = ("any", "depth", "named", "names", "rest", "route")

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth  # slashes before its segments
        self.named: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.rest: _Node | None = None
        self.route: Route | None = None
        self.names: tuple[str, ...] = ()


class Router:
    """The declared routes, indexed by method and path.

    Args:
        table: the declared routes.
    """

    __slots__ = ("_fixed", "_roots")

    def __init__(self, table: RouteTable) -> None:
        self._fixed: dict[str, dict[str, Found]] = {}  # {method: {path without parameters: …}}
        self._roots: dict[str, _Node] = {}  # {method: tree of the paths with parameters}
        for route in (*table.endpoints, *table.streams):
            if not isinstance(route, Endpoint):
                self._add(WEBSOCKET, route.path, route)
                continue
            for path in (route.path, *route.aliases):
                self._add(route.method, path, route)
                if route.method == "GET":
                    self._add("HEAD", path, route)

    def find(self, method: str, path: str) -> Found | None:
        """The route of a request; None when Werkzeug has to look for it.

        Args:
            method: HTTP method, or `WEBSOCKET`.
            path: the decoded path.
        """
        fixed = self._fixed.get(method)
        if fixed is not None:
            found = fixed.get(path)
            if found is not None:
                return found
        node = self._roots.get(method)
        if node is None:
            return None
        texts: list[str] = []
        for segment in path.split("/"):
            following = node.named.get(segment)
            if following is None:
                following = node.any
                if following is None or not segment:
                    if node.rest is None or not segment:
                        return None
                    texts.append(path.split("/", node.depth)[node.depth])
                    node = node.rest
                    break
                texts.append(segment)
            node = following
        if node.route is None:
            return None
        return node.route, dict(zip(node.names, texts, strict=True))

    def _add(self, method: str, path: str, route: Route) -> None:
        names = tuple(_PARAMETER.findall(path))
        if not names:
            self._fixed.setdefault(method, {})[path] = (route, {})
            return
        node = self._roots.setdefault(method, _Node())
        for segment in path.split("/"):
            if segment.startswith("{*"):
                node.rest = node = node.rest or _Node(node.depth + 1)
            elif _PARAMETER.fullmatch(segment) is not None:
                node.any = node = node.any or _Node(node.depth + 1)
            elif "{" in segment:
                return  # a parameter that is only part of a segment is left to Werkzeug
            else:
                node = node.named.setdefault(segment, _Node(node.depth + 1))
        node.route, node.names = route, names
