"""The table of routes: each is declared as the table says, and nothing is declared that is not in it.

`endpoints.csv` is written by hand from the service's description, so that a route cannot change its gate, or
appear, without somebody changing the table as well.
"""

import csv
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest
from msgspec.structs import fields

from actors.users.permissions import ABSENT_GRANTS, BUILT_IN_NODES
from routes import DOMAINS, TABLE
from routes.edge.declare.route import KEYED_METHODS, Endpoint, Route
from routes.edge.listener import Listener
from routes.edge.principal import (
    AUTHENTICATED,
    MODERATOR,
    PUBLIC,
    SERVER,
    SUPER_ADMIN,
    USER_OR_SERVER,
    Needs,
)
from routes.edge.reply import Blob, Finished, Redirect
from tests.contract.sources import ROOT

# What a route needs when the table names no permission node: {auth: need}.
GATES = {
    "none": PUBLIC,
    # The handler verifies it, before it reads anything of the body.
    "provider-signature": PUBLIC,
    "user": AUTHENTICATED,
    "moderator": MODERATOR,
    "super-admin": SUPER_ADMIN,
    "server": SERVER,
    "user|server": USER_OR_SERVER,
}

# Machines that are no game servers: their handlers and guards verify the secret.
MACHINES = {
    ("POST", "/v1/social/voice/nodes/{nodeId}/heartbeat", "http"),
    ("DELETE", "/v1/social/voice/nodes/{nodeId}", "http"),
    ("POST", "/v1/connect/gateways/register", "http"),
    ("POST", "/v1/connect/gateways/{gatewayId}/heartbeat", "http"),
}

# Game servers whose guard asks for a permission node: no user is admitted with it.
SERVERS_WITH_NODE = {("POST", "/v1/social/voice/nodes/register", "http")}


def _rows() -> list[dict[str, str]]:
    """The rows of the description, and those that a domain beyond it has beside its own tests."""
    rows: list[dict[str, str]] = []
    for path in sorted((ROOT / "tests").glob("*/endpoints.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    return rows


def _routes() -> Iterator[tuple[tuple[str, str, str], Route]]:
    """((method, path, kind), route) of all that is declared, aliases too."""
    table = TABLE
    for route in (*table.endpoints, *table.streams):
        kind = "http" if isinstance(route, Endpoint) else "ws"
        for path in route.templates:
            yield (route.method, path, kind), route


def _key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["method"], row["path"], row["kind"]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: f"{row['method']} {row['path']}")
def test_declared_as_the_table_says(row: dict[str, str]):
    routes = dict(_routes())
    assert _key(row) in routes, "is not declared"
    wanted: Needs = row["permission"] or GATES[row["auth"]]
    if _key(row) in MACHINES:
        wanted = PUBLIC
    elif _key(row) in SERVERS_WITH_NODE:
        wanted = SERVER
    assert routes[_key(row)].needs == wanted
    assert routes[_key(row)].shared == (row["auth"] == "user|server")


def test_admins_find_every_node_in_the_catalog():
    """A node that is asked for and not listed is one that nobody has, and nobody can find."""
    channels = (needs for domain in DOMAINS for channel in domain.channels for needs in channel.needs)
    asked = {
        needs for needs in (*(route.needs for _, route in _routes()), *channels) if isinstance(needs, str)
    }
    assert asked <= BUILT_IN_NODES | ABSENT_GRANTS


def test_nothing_else_is_declared():
    known = {_key(row) for row in _rows()}
    strays = [" ".join(key) for key, _ in _routes() if key not in known]
    assert not strays, "without a line in an endpoints.csv:\n" + "\n".join(strays)


def test_no_row_twice():
    keys = [_key(row) for row in _rows()]
    assert len(keys) == len(set(keys))


def test_every_refusal_of_a_route_is_declared_once():
    """A declaration lists what the handler may refuse, without repeating itself."""
    for _, route in _routes():
        assert len(route.refusals) == len(set(route.refusals)), route.line


def test_every_route_describes_itself():
    """The handler's docstring is the text of the documentation."""
    bare = [route.line for _, route in _routes() if not (route.handler.__doc__ or "").strip()]
    assert not bare, "\n".join(bare)


def test_public_data_has_an_etag():
    """Whoever keeps a public answer may ask whether it still holds (contract §3); a `Blob` always has a tag, and a
    `Redirect` is never kept, nor is what is drawn by lot."""
    bare = [
        route.line
        for (method, path, _), route in _routes()
        if method == "GET" and path.startswith("/v1/public/") and isinstance(route, Endpoint)
        if not path.endswith("/random")
        if route.cacheable is None and get_type_hints(route.handler)["return"] not in {Blob, Blob | Redirect}
    ]
    assert not bare, "\n".join(bare)


def test_what_is_counted_by_subject_is_counted_together_too():
    """A caller with many subjects would have as many rates, and none before it is known whether they are theirs."""
    alone = [
        f"{route.line} ({route.rate.name})"
        for _, route in _routes()
        if isinstance(route, Endpoint) and route.rate_key is not None and route.needs is not PUBLIC
        if route.rate.outer is None
    ]
    assert not alone, "\n".join(alone)


OTHER_LIMITS = {
    "GET /v1/admin/users/lookup": (10, "service-api §4"),
    "GET /v1/profile/personal-totem/history": (10, "service-api §4"),
    "GET /v1/profile/personal-totem/gallery": (200, "service-api §4"),
    "GET /v1/public/modrinth/{path}": (10, "Modrinth's own: it is asked and answered as Modrinth is"),
}
"""{route: (its default `limit`, where that is named)}."""


def test_a_page_has_fifty_things_where_no_other_number_is_named():
    """Contract §3."""
    others = {}
    for _, route in _routes():
        if route.query is not None and "limit" in route.query.fields:
            (limit,) = (one for one in fields(route.query.struct) if one.encode_name == "limit")
            if limit.default != 50:
                others[route.line] = limit.default
    assert others == {line: number for line, (number, _) in OTHER_LIMITS.items()}


KEEPS_NO_ANSWER = {
    "POST /v1/social/voice/nodes/{nodeId}/heartbeat": "what the node is to do now",
    "POST /v1/connect/gateways/{gatewayId}/heartbeat": "what the gateway carries now",
    "POST /v1/sessions": "takes a cookie",
    "POST /v1/sessions/renew": "takes a cookie",
    "POST /v1/sign-in-links": "takes a cookie",
    "POST /v1/profile/identities": "takes a cookie",
}
"""{route: why an Idempotency-Key keeps nothing there}."""


def test_every_post_and_put_keeps_its_answer():
    """Contract §3; the edge keeps it wherever the effect has not (`once.py`), if it is JSON, or nothing."""
    keyed = [one for one in TABLE.endpoints if one.method in KEYED_METHODS]
    assert {one.line for one in keyed if not one.keyed} == KEEPS_NO_ANSWER.keys()
    finished = [one.line for one in keyed if one.keyed and _is_finished(one)]
    assert not finished, finished


def _is_finished(endpoint: Endpoint) -> bool:
    returned = get_type_hints(endpoint.handler)["return"]
    return any(isinstance(one, type) and issubclass(one, Finished) for one in (returned, *get_args(returned)))


def test_every_stream_leaves_its_listener():
    """Without one nobody counts what a client says, and a flood is never ended."""
    deaf = [
        route.path
        for route in TABLE.streams
        if get_type_hints(route.handler)["return"] not in (Listener, Listener | None)
    ]
    assert not deaf, deaf
