"""The gate of game servers: whose credentials a route takes, and by whose limit a call is counted."""

import pytest

from routes.edge.declare.endpoint import endpoint
from routes.edge.docs.openapi import document
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.opening import Opening
from routes.edge.principal import PUBLIC, SERVER, USER_OR_SERVER
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import request
from tests.edge.parts import Parts
from tests.edge.sample import sample_table

OWN, SHARED = "/v1/servers/own", "/v1/servers/shared"
NODED, BESIDE = "/v1/servers/noded", "/v1/servers/beside"
BAD, UNKNOWN, MISSING = "BAD_SERVER_CREDENTIALS", "UNAUTHENTICATED", "FORBIDDEN"


@pytest.mark.parametrize(
    ("method", "path", "token", "server_id", "expected"),
    [
        ("GET", OWN, "ybbol", "lobby", "lobby"),
        ("GET", OWN, "anera", "arena", "arena"),
        ("GET", OWN, "anera", "lobby", BAD),
        ("GET", OWN, "ann", "lobby", BAD),
        ("GET", OWN, "ybbol", None, BAD),
        ("GET", OWN, "ann", None, BAD),
        ("GET", OWN, None, "lobby", BAD),
        ("GET", OWN, "\x01", "lobby", BAD),
        ("POST", SHARED, "ann", None, "user 1"),
        ("POST", SHARED, "anera", "arena", "arena"),
        ("POST", SHARED, "ann", "arena", BAD),
        ("POST", SHARED, "anera", None, UNKNOWN),
        ("POST", SHARED, None, None, UNKNOWN),
        ("GET", "/v1/things", "ybbol", "lobby", UNKNOWN),
        ("GET", NODED, "ann", None, "user 1"),
        ("GET", NODED, "nobody", None, MISSING),
        ("GET", NODED, "ybbol", "lobby", "lobby"),
        ("GET", NODED, "anera", "arena", MISSING),
        ("GET", NODED, "ann", "lobby", BAD),
        ("GET", NODED, "ybbol", None, UNKNOWN),
        ("GET", BESIDE, "ann", None, "user 1"),
        ("GET", BESIDE, "nobody", None, MISSING),
        ("GET", BESIDE, "anera", "arena", "arena"),
        ("GET", BESIDE, "ann", "arena", BAD),
    ],
)
async def test_whose_credentials_a_route_takes(
    app: EdgeApp, method: str, path: str, token: str | None, server_id: str | None, expected: str
):
    headers = {} if server_id is None else {"x_server_id": server_id}
    answer = await request(app, method, path, token=token, **headers)
    if expected == MISSING:
        assert (answer.status, answer.code) == (403, MISSING)
    elif expected in {BAD, UNKNOWN}:
        assert (answer.status, answer.code) == (401, expected)
        assert answer.headers["www-authenticate"] == "Bearer"
    else:
        assert answer.json["name"] == expected


async def test_servers_have_a_limit_of_their_own(app: EdgeApp):
    for method, path in (("GET", OWN), ("POST", SHARED), ("GET", NODED), ("GET", BESIDE)):
        answer = await request(app, method, path, token="ybbol", x_server_id="lobby")
        assert answer.headers["ratelimit-policy"] == '"server";q=1200;w=60'
    answer = await request(app, "POST", SHARED, token="ann")
    assert answer.headers["ratelimit-policy"] == '"user-write";q=120;w=60'


async def test_an_address_that_is_wrong_too_often_waits(app: EdgeApp, parts: Parts):
    wrong = {"token": "anera", "x_server_id": "lobby", "peer": "192.0.2.1"}
    for _ in range(60):
        assert (await request(app, "GET", OWN, **wrong)).code == BAD
    refused = await request(app, "GET", OWN, **wrong)
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "RATE_LIMITED", "1")
    assert refused.headers["ratelimit-policy"] == '"bad-credentials";q=60;w=60'
    # Neither a right one that is yet to be verified, nor one without a server's id, which is no guess.
    right = {"token": "anera", "x_server_id": "arena"}
    assert (await request(app, "GET", OWN, **right, peer="192.0.2.1")).code == "RATE_LIMITED"
    assert (await request(app, "GET", OWN, token="ann", peer="192.0.2.1")).code == BAD
    # Who is known, users, and other addresses go on.
    for asked in (
        {"token": "ybbol", "x_server_id": "lobby", "peer": "192.0.2.1"},
        {**right, "peer": "192.0.2.2"},
    ):
        assert (await request(app, "GET", OWN, **asked)).status == 200
    assert (await request(app, "POST", SHARED, token="ann", peer="192.0.2.1")).status == 200
    parts.clock.at_ms += 1_000
    assert (await request(app, "GET", OWN, **right, peer="192.0.2.1")).status == 200


@pytest.mark.parametrize(
    ("headers", "query", "code"),
    [
        ({"authorization": "Bearer anera", "x-server-id": "arena"}, b"", None),
        ({"authorization": "Bearer ann"}, b"", None),
        ({"authorization": "Bearer ann", "x-server-id": "arena"}, b"", BAD),
        ({"sec-websocket-protocol": "svc-bearer.anera", "x-server-id": "arena"}, b"", BAD),
        ({"authorization": "Bearer anera", "x-server-id": "arena"}, b"token=anera", "TOKEN_IN_QUERY"),
    ],
)
async def test_streams_take_servers_by_headers(
    app: EdgeApp, headers: dict[str, str], query: bytes, code: str | None
):
    assert app.edge is not None
    stream = next(one for one in app.edge.table.streams if not one.parameters)
    given = [(name.encode(), text.encode()) for name, text in headers.items()]
    handshake = Incoming("GET", "/", {}, query=query, headers=given, peer="", receive=_no_body)
    opened = await app.edge.open(stream, handshake)
    if code is None:
        assert isinstance(opened, Opening)
    else:
        assert isinstance(opened, Outgoing)
        assert code.encode() in bytes(opened.body)


async def _no_body() -> tuple[bytes, bool]:
    return b"", False


def test_openapi_says_whose_credentials():
    paths = document(sample_table())["paths"]
    server = {"server": [], "serverId": []}
    assert paths[OWN]["get"]["security"] == [server]
    assert paths[SHARED]["post"]["security"] == [{"user": []}, server]
    assert paths[NODED]["get"]["security"] == paths[BESIDE]["get"]["security"] == [{"user": []}, server]
    assert BAD in str(paths[OWN]["get"]["responses"]["401"])
    assert UNKNOWN not in str(paths[OWN]["get"]["responses"]["401"])


async def odd(call: Call) -> None:
    """Does nothing."""


def test_a_rule_for_servers_stands_beside_one_for_users():
    for needs in (PUBLIC, SERVER, USER_OR_SERVER):
        with pytest.raises(ValueError, match="rule of their own"):
            endpoint("GET", "/v1/odd", needs=needs, servers=SERVER)(odd)
    with pytest.raises(ValueError, match="nor a permission node"):
        endpoint("GET", "/v1/odd", needs="things:read", servers="odd")(odd)
