"""The router finds what Werkzeug finds, and nothing else; what it passes over is Werkzeug's."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import routes
from routes.edge.declare.endpoint import endpoint, stream
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.declare.route import Endpoint
from routes.edge.declare.router import WEBSOCKET, Router
from routes.edge.errors import MethodNotAllowed, RouteNotFound, WebsocketOnly
from routes.edge.listener import Listener
from routes.edge.pipeline.call import Call
from routes.edge.principal import PUBLIC
from routes.edge.server.quart_app import EdgeApp
from routes.edge.server.quart_rules import DeclaredRules
from routes.edge.websocket.socket import LiveSocket
from tests.edge.asgi import request
from tests.edge.parts import Parts
from tests.edge.sample import sample_table, serving


@endpoint("GET", "/v1/tree/{first}/leaf", needs=PUBLIC)
def leaf(call: Call, first: str) -> None:
    """A parameter in the middle."""


@endpoint("GET", "/v1/tree/trunk/{second}", needs=PUBLIC)
def trunk(call: Call, second: str) -> None:
    """A word where the other has its parameter."""


@endpoint("GET", "/v1/tree/{name}.txt", needs=PUBLIC)
def text(call: Call, name: str) -> None:
    """A parameter that is a part of a segment."""


@endpoint("GET", "/v1/tree/{first}/roots/{*rest}", needs=PUBLIC)
def roots(call: Call, first: str, rest: str) -> None:
    """The rest of a path."""


@endpoint("GET", "/v1/tree/{first}/roots/deep/{second}", needs=PUBLIC)
def deep(call: Call, first: str, second: str) -> None:
    """A place that the rest would reach as well."""


@endpoint("POST", "/v1/tree/{first}/roots/water", needs=PUBLIC)
def water(call: Call, first: str) -> None:
    """Another method at such a place."""


@stream("/v1/tree/{*rest}", needs=PUBLIC, sends=())
async def sounds(call: Call, socket: LiveSocket, rest: str) -> Listener | None:
    """A stream of the rest."""
    return None


@endpoint("DELETE", "/v1/nests/{name}", needs=PUBLIC)
def nest(call: Call, name: str) -> None:
    """A parameter where a stream has its word."""


@stream("/v1/nests/live", needs=PUBLIC, sends=())
async def nests(call: Call, socket: LiveSocket) -> Listener | None:
    """A stream beside other methods."""
    return None


TABLES = {
    "service": routes.TABLE,
    "sample": sample_table(),
    "here": RouteTable.of([Mount("here", (sys.modules[__name__],))]),
}
APPS = {name: EdgeApp(table, lambda: pytest.fail("not served")) for name, table in TABLES.items()}
DECLARED = {name: DeclaredRules(table) for name, table in TABLES.items()}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW", WEBSOCKET)
WORDS = sorted(
    {
        segment
        for table in TABLES.values()
        for route in (*table.endpoints, *table.streams)
        for segment in route.path.split("/")
    }
    | {"", ".", "..", "trunk.txt", "{*rest}", "a b", "%2F", "ü", "\n", "x", "<x>", "{x}"}
)


def same(name: str, method: str, path: str) -> bool:
    """Whether the router finds the route; if it does, Werkzeug must find the same."""
    found = Router(TABLES[name]).find(method, path)
    if found is None:
        return False
    assert DECLARED[name].match(method, path) == found
    return True


@pytest.mark.parametrize("name", TABLES)
def test_every_declared_route_is_found_without_werkzeug(name: str) -> None:
    for route in (*TABLES[name].endpoints, *TABLES[name].streams):
        if route.name == "text":
            continue
        paths = (route.path, *route.aliases) if isinstance(route, Endpoint) else (route.path,)
        for path in paths:
            asked = path.replace("{", "").replace("}", "")
            method = route.method if isinstance(route, Endpoint) else WEBSOCKET
            assert same(name, method, asked)
            assert method != "GET" or same(name, "HEAD", asked)


@given(
    st.sampled_from(sorted(TABLES)),
    st.sampled_from(METHODS),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=7),
    st.sampled_from(["/", "", "//"]),
)
def test_whatever_is_asked_both_ways_agree(name: str, method: str, segments: list[str], start: str) -> None:
    same(name, method, start + "/".join(segments))


def test_what_the_router_passes_over_werkzeug_finds() -> None:
    app = APPS["here"]
    router = Router(TABLES["here"])
    # Two rules fit a beginning, and the walk took the word; and a part of a segment is no segment.
    for path, handler in (("/v1/tree/trunk/leaf", "trunk"), ("/v1/tree/oak.txt", "text")):
        route, _ = app.find("GET", path)
        assert route is not None
        assert route.name == handler
    assert router.find("GET", "/v1/tree/oak.txt") is None
    assert router.find("GET", "v1/tree/trunk/x") is None


@pytest.mark.parametrize(
    ("path", "handler", "parameters"),
    [
        ("/v1/tree/oak/roots/a", "roots", {"first": "oak", "rest": "a"}),
        ("/v1/tree/oak/roots/a/b/c", "roots", {"first": "oak", "rest": "a/b/c"}),
        ("/v1/tree/oak/roots/deep", "roots", {"first": "oak", "rest": "deep"}),
        ("/v1/tree/oak/roots/deep/x", "deep", {"first": "oak", "second": "x"}),
        ("/v1/tree/oak/roots/deep/x/y", "roots", {"first": "oak", "rest": "deep/x/y"}),
        ("/v1/tree/oak/roots/deep/", "roots", {"first": "oak", "rest": "deep/"}),
        ("/v1/tree/oak/roots/water", "roots", {"first": "oak", "rest": "water"}),
        ("/v1/tree/oak/roots/a//b", "roots", {"first": "oak", "rest": "a//b"}),
        ("/v1/tree/oak/roots/a\nb\n", "roots", {"first": "oak", "rest": "a\nb\n"}),
        ("/v1/tree/oak/roots/../leaf", "roots", {"first": "oak", "rest": "../leaf"}),
    ],
)
def test_the_rest_of_a_path_loses_to_what_names_it(
    path: str, handler: str, parameters: dict[str, str]
) -> None:
    same("here", "GET", path)
    route, found = APPS["here"].find("GET", path)
    assert route is not None
    assert (route.name, found) == (handler, parameters)


def test_the_rest_is_never_empty() -> None:
    app = APPS["here"]
    for path in ("/v1/tree/oak/roots", "/v1/tree/oak/roots/", "/v1/tree/oak/roots//a"):
        with pytest.raises(WebsocketOnly):  # which takes the rest after /v1/tree/
            app.find("GET", path)
    for path in ("/v1/tree", "/v1/tree/", "/v1/tree//oak"):
        with pytest.raises(RouteNotFound):
            app.find(WEBSOCKET, path)
    route, parameters = app.find(WEBSOCKET, "/v1/tree/oak/leaf")
    assert route is not None
    assert (route.name, parameters) == ("sounds", {"rest": "oak/leaf"})


def test_methods_of_the_rest_are_told() -> None:
    app = APPS["here"]
    for path, methods in (("a/b", "GET, HEAD, OPTIONS"), ("water", "GET, HEAD, OPTIONS, POST")):
        with pytest.raises(MethodNotAllowed) as refused:
            app.find("DELETE", f"/v1/tree/oak/roots/{path}")
        assert refused.value.headers == {"allow": methods}
    route, _ = app.find("POST", "/v1/tree/oak/roots/water")
    assert route is not None
    assert route.name == "water"


@pytest.mark.parametrize("name", TABLES)
def test_every_stream_says_what_it_is_to_who_brings_no_handshake(name: str) -> None:
    for route in TABLES[name].streams:
        asked = route.path.replace("{", "").replace("}", "")
        for method in ("GET", "HEAD"):
            with pytest.raises(WebsocketOnly):
                APPS[name].find(method, asked)
        with pytest.raises(MethodNotAllowed) as refused:
            APPS[name].find("POST", asked)
        assert {"GET", "HEAD", "OPTIONS"} <= set(refused.value.headers["allow"].split(", "))


def test_methods_beside_a_stream_are_told() -> None:
    app = APPS["here"]
    with pytest.raises(MethodNotAllowed) as refused:
        app.find("POST", "/v1/nests/live")
    assert refused.value.headers == {"allow": "DELETE, GET, HEAD, OPTIONS"}
    route, parameters = app.find("DELETE", "/v1/nests/live")
    assert route is not None
    assert (route.name, parameters) == ("nest", {"name": "live"})


def test_what_no_route_takes_is_told_apart() -> None:
    app = APPS["sample"]
    for path in ("/v1/nowhere", "//v1/open", "/v1/open/", "/v1//open", "/v1/users/"):
        with pytest.raises(RouteNotFound):
            app.find("GET", path)
    with pytest.raises(MethodNotAllowed) as refused:
        app.find("POST", "/v1/open")
    assert refused.value.headers == {"allow": "GET, HEAD, OPTIONS"}
    with pytest.raises(WebsocketOnly):
        app.find("GET", "/v1/things/x/live")
    with pytest.raises(RouteNotFound):
        app.find(WEBSOCKET, "/v1/open")


async def test_rules_added_by_hand_are_quarts(parts: Parts) -> None:
    async with serving(parts) as app:

        @app.get("/by/hand/<int:number>")
        async def by_hand(number: int) -> str:
            return f"number {number}"

        assert (await request(app, "GET", "/by/hand/7")).body == b"number 7"
        assert (await request(app, "GET", "/by/hand/x")).code == "ROUTE_NOT_FOUND"
