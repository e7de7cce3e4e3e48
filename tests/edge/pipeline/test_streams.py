"""The pipeline in front of a WebSocket: refused upgrades are problems, accepted ones outlive the request's bounds."""

import math

import pytest

from routes.edge.incoming import Incoming
from routes.edge.pipeline.opening import Opening
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import request
from tests.edge.parts import Parts

THING = "aaaa0000aaaa0000aaaa0000"
PARTS = f"/v1/things/{THING}/parts"


@pytest.mark.parametrize(
    ("target", "headers", "code"),
    [
        ("/v1/nowhere", {}, "ROUTE_NOT_FOUND"),
        (PARTS, {}, "ROUTE_NOT_FOUND"),
        ("/v1/things/{}/live", {"origin": "https://evil.example"}, "FORBIDDEN"),
        ("/v1/things/{}/live?token=ann", {}, "TOKEN_IN_QUERY"),
        ("/v1/things/{}/live", {}, "UNAUTHENTICATED"),
        ("/v1/things/{}/live", {"sec_websocket_protocol": "svc.v1, svc-bearer.bmljZQ"}, "UNAUTHENTICATED"),
        ("/v1/things/{}/live", {"authorization": "Bearer nobody"}, "FORBIDDEN"),
        ("/v1/things/malformed/live", {"authorization": "Bearer ann"}, "NOT_FOUND"),
        ("/v1/things/{}/live", {"authorization": "Bearer ann"}, "CONVERSATION_NOT_FOUND"),
    ],
)
async def test_refused_upgrades_are_problems(
    app: EdgeApp, target: str, headers: dict[str, str], code: str
) -> None:
    target = target.replace("{}", "bbbb0000-0000-4000-8000-000000000001")
    answer = await request(app, "GET", target, websocket=True, **headers)
    assert answer.code == code
    assert len(answer.headers["x-request-id"]) == 24


async def test_no_new_streams_while_draining(app: EdgeApp, parts: Parts) -> None:
    parts.draining = True
    answer = await request(app, "GET", f"/v1/things/{THING}/live", token="ann", websocket=True)
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "DRAINING", "1")


async def test_stream_outlives_the_deadline_of_its_handshake(app: EdgeApp) -> None:
    assert app.edge is not None
    stream = next(one for one in app.edge.table.streams if one.parameters)
    headers = [(b"authorization", b"Bearer ann")]
    parameters = {"thingId": "aaaa0000-0000-4000-8000-000000000001"}
    handshake = Incoming("GET", "/", parameters, query=b"", headers=headers, peer="", receive=no_body)
    opening = await app.edge.open(stream, handshake)
    assert isinstance(opening, Opening)
    assert opening.call.deadline.at == math.inf


async def no_body() -> tuple[bytes, bool]:
    return b"", False


async def test_an_accepted_upgrade_names_the_protocol_and_no_token(app: EdgeApp) -> None:
    answer = await request(
        app,
        "GET",
        "/v1/things/aaaa0000-0000-4000-8000-000000000001/live?limit=3",
        websocket=True,
        sec_websocket_protocol="svc.v1, svc-bearer.YW5u",
        x_request_id="r1",
    )
    assert (answer.status, answer.headers["subprotocol"], answer.headers["x-request-id"]) == (
        101,
        "svc.v1",
        "r1",
    )
