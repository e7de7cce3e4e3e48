"""The declared routes as a URL map of Werkzeug, which is how Quart knows them."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import cast

from quart.routing import QuartMap, QuartRule
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import MethodNotAllowed as NoSuchMethod
from werkzeug.routing import BaseConverter, MapAdapter, RequestRedirect, Rule, WebsocketMismatch

from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Route, Stream
from routes.edge.declare.router import WEBSOCKET, Router
from routes.edge.errors import MethodNotAllowed, RouteNotFound, WebsocketOnly

HOST = "partyline"
"""The host that URL maps are bound to; no rule depends on it."""

_OF_STREAMS = frozenset({"GET", "HEAD"})
"""The methods of a request that might have been a handshake."""

_PARAMETER = re.compile(r"\{(\*?)(\w+)\}")


class LateRule(QuartRule):
    """A rule that compiles its URL builder on first use; no code calls `url_for`, and compiling 200 takes 35 ms."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        def build(rule: Rule, **values: object) -> tuple[str, str]:
            return Rule._compile_builder(rule, append_unknown)(rule, **values)

        return build


class RestConverter(BaseConverter):
    """The segments that are left of a path, with the slashes between them; the first is not empty."""

    regex = "(?s:[^/].*)"
    part_isolating = False
    weight = 200
    """Tried after the converters of one segment."""


class DeclaredRules:
    """The declared routes as a URL map of Werkzeug.

    Args:
        table: the declared routes.
    """

    def __init__(self, table: RouteTable) -> None:
        # {name of a rule: declaration}
        self._routes: dict[str, Route] = {}
        rules = QuartMap(merge_slashes=False, converters={"rest": RestConverter})
        for route in (*table.endpoints, *table.streams):
            paths = (route.path, *route.aliases) if isinstance(route, Endpoint) else (route.path,)
            for path in paths:
                name = f"{route.name} {path}"
                self._routes[name] = route
                live = isinstance(route, Stream)
                rules.add(LateRule(_rule(path), methods=[route.method], endpoint=name, websocket=live))
        self._rules = rules.bind(HOST)

    def match(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The declared route of a request, with its path's parameters.

        Args:
            method: HTTP method, or `WEBSOCKET`.
            path: the decoded path.

        Raises:
            RouteNotFound: no declared rule has this path.
            MethodNotAllowed: rules have this path, for other methods, which its Allow header lists.
            WebsocketOnly: the path is a stream's, and the method one that a handshake might have had.
        """
        try:
            rule, parameters = _match(self._rules, method, path)
        except NoSuchMethod as error:
            # Werkzeug passes over a stream where a rule beside it fits the path with other methods
            # (`/friends/live`, and `/friends/{friendId}`, which can be deleted).
            if method in _OF_STREAMS and matches(self._rules, WEBSOCKET, path):
                raise WebsocketOnly from None
            methods = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
            raise MethodNotAllowed(headers={"allow": methods}) from None
        except WebsocketMismatch:
            raise (RouteNotFound if method == WEBSOCKET else WebsocketOnly) from None
        except (HTTPException, RequestRedirect):
            raise RouteNotFound from None
        return self._routes[rule.endpoint], parameters


@lru_cache(maxsize=4)
def declared_rules(table: RouteTable) -> DeclaredRules:
    """The declared routes as Quart knows them; made once for each table."""
    # Cached for processes that open many services: the rules depend on the table only, and making 220 takes 85 ms.
    return DeclaredRules(table)


@lru_cache(maxsize=4)
def router_of(table: RouteTable) -> Router:
    """The router of the declared routes; made once for each table."""
    # Likewise: 2 ms for 400 paths.
    return Router(table)


def _match(rules: MapAdapter, method: str, path: str) -> tuple[Rule, dict[str, str]]:
    live = method == WEBSOCKET
    found = rules.match(path, method="GET" if live else method, websocket=live, return_rule=True)
    return cast(tuple[Rule, dict[str, str]], found)


def matches(rules: MapAdapter, method: str, path: str) -> bool:
    """Whether a URL map has a rule for a request.

    Args:
        rules: the URL map, bound to `HOST`.
        method: HTTP method, or `WEBSOCKET`.
        path: the decoded path.
    """
    try:
        _match(rules, method, path)
    except (HTTPException, RequestRedirect):
        return False
    return True


def _rule(path: str) -> str:
    """A declared path in Werkzeug's syntax."""
    return _PARAMETER.sub(lambda found: f"<rest:{found[2]}>" if found[1] else f"<{found[2]}>", path)
