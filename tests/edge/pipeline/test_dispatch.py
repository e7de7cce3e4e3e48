"""The pipeline: order of checks, problem documents, and the headers that every response has."""

from dataclasses import replace

import pytest
import trio.testing
from structlog.testing import capture_logs

from routes.config.config import read_config
from routes.edge.declare.mounts import RouteTable
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import request
from tests.edge.parts import NOW_MS, Parts
from tests.edge.sample import Call, Thing, open_thing, serving

THING = "aaaa0000aaaa0000aaaa0000"
PARTS = f"/v1/things/{THING}/parts"


async def test_problem_document_is_whole(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/v1/things", token="nobody", x_request_id="my.id-1")
    assert answer.json == {
        "type": "urn:problem:forbidden",
        "title": "Forbidden",
        "status": 403,
        "code": "FORBIDDEN",
        "message": "missing permission things:read",
        "detail": "missing permission things:read",
        "requestId": "my.id-1",
        "meta": {"permission": "things:read"},
    }
    assert answer.headers["x-request-id"] == "my.id-1"


async def test_errors_stand_in_422_only(app: EdgeApp) -> None:
    broken = await request(app, "POST", PARTS, {"name": 1}, token="ann")
    assert (broken.status, broken.code) == (422, "VALIDATION_FAILED")
    assert broken.json["errors"] == [
        {"pointer": "/name", "code": "WRONG_TYPE", "message": "expected string, got integer"}
    ]
    ruled = await request(app, "POST", PARTS, {"name": "odd"}, token="ann")
    assert ruled.json["errors"] == [{"pointer": "/name", "code": "ODD", "message": "this name is odd"}]
    assert "errors" not in (await request(app, "POST", PARTS, {"name": "taken"}, token="ann")).json


ORDER = [
    ("ROUTE_NOT_FOUND", {"target": "/v1/nowhere", "token": "x", "content_length": "999"}),
    ("METHOD_NOT_ALLOWED", {"method": "GET", "token": "x", "content_length": "999"}),
    ("PAYLOAD_TOO_LARGE", {"token": "x", "content_length": "999"}),
    ("UNAUTHENTICATED", {"token": "x", "exhaust": True}),
    ("TOKEN_EXPIRED", {"token": "old"}),
    ("RATE_LIMITED", {"token": "nobody", "exhaust": True}),
    ("FORBIDDEN", {"token": "nobody", "target": "/v1/things/bbbb0000aaaa0000aaaa0000/parts"}),
    ("CONVERSATION_NOT_FOUND", {"target": "/v1/things/malformed/parts", "body": b"{"}),
    ("CONVERSATION_NOT_FOUND", {"target": "/v1/things/bbbb0000aaaa0000aaaa0000/parts", "body": b"{"}),
    ("UNSUPPORTED_MEDIA", {"content_type": "text/plain", "body": b"{", "idempotency_key": "\x01"}),
    ("UNSUPPORTED_MEDIA", {"content_encoding": "gzip", "body": b"{"}),
    ("MALFORMED_JSON", {"content_type": "application/json", "body": b"{", "idempotency_key": "a b"}),
    ("VALIDATION_FAILED", {"body": {}, "idempotency_key": "a b"}),
    ("BAD_QUERY", {"body": {"name": "taken"}, "idempotency_key": "a b"}),
    ("INVALID_STATE", {"body": {"name": "taken"}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "given"), ORDER, ids=[f"{n} {code}" for n, (code, _) in enumerate(ORDER)])
async def test_order_of_checks(app: EdgeApp, code: str, given: dict[str, object]) -> None:
    """Each row breaks the rule of its code and rules further down, never one further up (contract §1)."""
    given = {"method": "POST", "target": PARTS, "body": b"", "token": "ann"} | given
    if given.pop("exhaust", False):
        for _ in range(300):
            await request(app, "POST", PARTS, b"", token="nobody")
    answer = await request(app, **given)  # type: ignore[arg-type]
    assert answer.code == code


async def test_statuses_and_their_headers(app: EdgeApp) -> None:
    unauthenticated = await request(app, "GET", "/v1/things")
    assert (unauthenticated.status, unauthenticated.headers["www-authenticate"]) == (401, "Bearer")
    wrong_method = await request(app, "DELETE", PARTS)
    assert (wrong_method.status, wrong_method.headers["allow"]) == (405, "OPTIONS, POST")
    assert (await request(app, "GET", "/v1/things/", token="ann")).code == "ROUTE_NOT_FOUND"
    assert (await request(app, "GET", "//v1/things", token="ann")).code == "ROUTE_NOT_FOUND"
    no_socket = await request(app, "GET", f"/v1/things/{THING}/live", token="ann")
    assert (no_socket.status, no_socket.headers["upgrade"]) == (426, "websocket")
    assert (await request(app, "GET", "/v1/things?limit=x", token="ann")).status == 400
    assert (await request(app, "POST", f"/things/{THING}/parts", {}, token="ann")).status == 422


async def test_each_role_reaches_what_it_and_lower_ones_may(app: EdgeApp) -> None:
    statuses = {
        token: [
            (await request(app, "GET", path, token=token)).status
            for path in ("/v1/moderator/things", "/v1/admin/things")
        ]
        for token in ("ann", "mod", "root")
    }
    assert statuses == {"ann": [403, 403], "mod": [204, 403], "root": [204, 204]}


@pytest.mark.parametrize(
    ("fault", "status", "code", "meta"),
    [
        ("bug", 500, "INTERNAL", {}),
        ("rejected", 500, "INTERNAL", {}),
        ("group", 409, "INVALID_STATE", {}),
        ("full", 503, "OVERLOADED", {}),
        ("unknown", 503, "DATABASE_UNAVAILABLE", {"outcome": "unknown"}),
    ],
)
async def test_faults_tell_nothing(
    app: EdgeApp, fault: str, status: int, code: str, meta: dict[str, str]
) -> None:
    with capture_logs() as lines:
        answer = await request(app, "GET", f"/v1/faults/{fault}")
    assert (answer.status, answer.code, answer.json["meta"]) == (status, code, meta)
    assert not {b"SELECT", b"relation", b"Traceback", b"ZeroDivision"} & set(answer.body.split())
    assert (answer.headers.get("retry-after") == "1") == (status == 503)
    assert bool(lines) == (fault != "group")  # what a rule said is no news; everything else is logged


@pytest.mark.parametrize(
    ("fault", "code", "seconds"),
    [("slow", "OVERLOADED", 5), ("slow-effect", "DATABASE_UNAVAILABLE", 5)],
)
async def test_a_request_that_takes_too_long_is_a_503(
    parts: Parts, autojump_clock: trio.testing.MockClock, fault: str, code: str, seconds: float
) -> None:
    async with serving(parts) as app:
        started = trio.current_time()
        answer = await request(app, "GET", f"/v1/faults/{fault}")
        assert (answer.status, answer.code) == (503, code)
        assert trio.current_time() - started == pytest.approx(seconds)


async def test_long_poll_adds_its_wait(parts: Parts, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(parts) as app:
        assert (await request(app, "GET", "/v1/faults/poll")).status == 204


async def test_raw_bodies_need_their_media_type_and_size(app: EdgeApp) -> None:
    async def post(body: bytes, **headers: str) -> str | int:
        answer = await request(app, "POST", "/v1/raw", body, **headers)
        return answer.json["name"] if answer.status == 200 else answer.status

    assert await post(b"12345", content_type="image/png") == "5 bytes"
    assert await post(b"12345", content_type="text/plain; charset=x") == "5 bytes"
    assert await post(b"12345", content_type="application/json") == 415
    assert await post(b"12345") == 415
    assert await post(b"", content_type="image/png") == 400
    assert await post(b"x" * 11, content_type="image/png") == 413
    assert await post(b"", content_length="many") == 400
    chunked = await request(
        app, "POST", "/v1/raw", chunks=[b"12345", b"67890", b"1", b"2" * 99], content_type="image/png"
    )
    assert chunked.code == "PAYLOAD_TOO_LARGE"
    whole = await request(app, "POST", "/v1/raw", chunks=[b"12345", b"67890"], content_type="image/png")
    assert whole.json["name"] == "10 bytes"
    assert (await request(app, "DELETE", "/v1/optional")).status == 204
    assert (await request(app, "DELETE", "/v1/optional", {"name": "x"})).status == 204
    assert (await request(app, "DELETE", "/v1/optional", {"name": ""})).status == 422
    latin = await request(
        app, "DELETE", "/v1/optional", b'{"name":"x"}', content_type="application/json; charset=latin-1"
    )
    assert latin.status == 415


@pytest.mark.parametrize(
    "media", ["application/octet-stream", "application/x-www-form-urlencoded", "nonsense"]
)
async def test_no_body_has_no_media_type(app: EdgeApp, media: str) -> None:
    """aiohttp names a type for a body that it does not send, and so does `curl -d ''`."""
    nothing = await request(app, "DELETE", "/v1/optional", content_type=media, content_length="0")
    assert nothing.status == 204
    assert (await request(app, "DELETE", "/v1/optional", b"{}", content_type=media)).status == 415


async def test_a_large_body_is_decoded_and_refused_as_a_small_one(app: EdgeApp) -> None:
    padding = b" " * 300_000
    answer = await request(
        app,
        "POST",
        "/v1/large",
        b'{"name":"x",' + padding + b'"sizeBytes":3}',
        content_type="application/json",
    )
    assert answer.json == {"name": "x", "sizeBytes": 3}
    broken = await request(
        app, "POST", "/v1/large", b'{"name":1' + padding + b"}", content_type="application/json"
    )
    assert broken.json["errors"][0]["pointer"] == "/name"


async def test_ids_are_normalised(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/v1/users/ABCDEF01-0000-4000-8000-000000000001")
    assert answer.json["name"] == "abcdef01"
    assert (await request(app, "GET", "/v1/users/ann")).code == "NOT_FOUND"


@pytest.mark.parametrize(
    ("sent", "taken"),
    [("a/b", "a/b"), ("a%2Fb%2fc", "a/b/c"), ("a%20b/%C3%A4", "a b/ä"), ("%252e%252e/a", "%2e%2e/a")],
)
async def test_the_rest_of_a_path_is_decoded_once(app: EdgeApp, sent: str, taken: str) -> None:
    assert (await request(app, "GET", f"/v1/rest/{sent}")).json["name"] == taken


async def test_no_rest_leads_elsewhere(app: EdgeApp) -> None:
    for sent in ("a/../b", "%2e%2e/a", "a%2f..%2fb", "a//b", "a/", "a%5Cb", "a%0D%0Ab", "a%00", "%2e"):
        assert (await request(app, "GET", f"/v1/rest/{sent}")).code == "NOT_FOUND", sent
    for sent in ("", "/a", "%2Fa"):
        assert (await request(app, "GET", f"/v1/rest/{sent}")).code == "ROUTE_NOT_FOUND", sent
    refused = await request(app, "POST", "/v1/rest/a/b")
    assert (refused.code, refused.headers["allow"]) == ("METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS")


async def test_pages_of_allowed_origins_may_read_answers(app: EdgeApp) -> None:
    allowed = await request(app, "GET", "/v1/things", origin="https://app.example")  # a 401, and readable
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert "Retry-After" in allowed.headers["access-control-expose-headers"]
    assert allowed.headers["vary"] == "Origin"
    foreign = await request(app, "GET", "/v1/nowhere", origin="https://evil.example")
    assert "access-control-allow-origin" not in foreign.headers
    preflight = await request(
        app, "OPTIONS", PARTS, origin="https://app.example", access_control_request_method="POST"
    )
    assert (preflight.status, preflight.headers["allow"]) == (204, "OPTIONS, POST")
    assert preflight.headers["access-control-allow-methods"] == "OPTIONS, POST"
    taken = set(preflight.headers["access-control-allow-headers"].split(", "))
    assert {"Authorization", "Idempotency-Key", "If-Match", "Prefer", "X-Request-Id"} <= taken
    refused = await request(
        app, "OPTIONS", PARTS, origin="https://evil.example", access_control_request_method="POST"
    )
    assert "access-control-allow-methods" not in refused.headers
    assert (await request(app, "OPTIONS", "/v1/nowhere")).code == "ROUTE_NOT_FOUND"


async def test_token_in_the_address(app: EdgeApp) -> None:
    refused = await request(app, "GET", "/v1/files/memory?access_token=ann", token="ann")
    assert (refused.status, refused.code) == (400, "TOKEN_IN_QUERY")
    assert b"ann" not in refused.body
    elsewhere = await request(app, "GET", "/v1/things?token=ann", token="ann")
    assert elsewhere.status == 200


async def test_token_in_the_address_where_a_deployment_takes_it() -> None:
    parts = Parts(config=read_config({"PARTYLINE_ALLOW_QUERY_TOKENS": "1"}))
    async with serving(parts) as app:
        assert (await request(app, "GET", "/v1/files/memory?access_token=ann")).status == 200
        assert (await request(app, "GET", "/v1/files/memory?access_token=x")).code == "UNAUTHENTICATED"
        assert (await request(app, "GET", "/v1/things?access_token=ann")).code == "UNAUTHENTICATED"


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "é", "a/b"])
async def test_request_id_that_is_not_well_formed_is_replaced(app: EdgeApp, given: str) -> None:
    answer = await request(app, "GET", "/v1/open", x_request_id=given)
    assert len(answer.headers["x-request-id"]) == 24


async def test_metrics_count_by_declared_route(app: EdgeApp, parts: Parts) -> None:
    await request(app, "GET", "/v1/users/ann")
    await request(app, "GET", "/v1/nowhere")
    text = parts.metrics.text().decode()
    assert 'partyline_http_requests_total{route="GET /v1/users/{userId}",status="404"} 1.0' in text
    assert 'partyline_http_requests_total{route="unmatched",status="404"} 1.0' in text
    assert (
        'partyline_http_request_duration_seconds_bucket{le="+Inf",route="GET /v1/users/{userId}"} 1.0' in text
    )


async def test_now_is_the_services_and_stands_still_for_a_request(parts: Parts) -> None:
    """However often a rule asks, and whatever the clock does meanwhile."""
    seen: list[int] = []

    async def asked(call: Call) -> Thing:
        seen.append(call.now_ms)
        parts.clock.at_ms += 5_000
        seen.append(call.now_ms)
        return Thing("open")

    table = RouteTable((replace(open_thing, handler=asked),))
    async with serving(parts, table) as app:
        await request(app, "GET", "/v1/open")
        await request(app, "GET", "/v1/open")
    assert seen == [NOW_MS, NOW_MS, NOW_MS + 5_000, NOW_MS + 5_000]


async def test_a_body_that_is_here_already_is_not_received(app: EdgeApp) -> None:
    async def receive() -> tuple[bytes, bool]:
        pytest.fail("nothing more was to be received")

    async def post(whole: bytes) -> Outgoing:
        headers = [(b"content-type", b"text/plain")]
        incoming = Incoming(
            "POST", "/v1/raw", {}, query=b"", headers=headers, peer="", receive=receive, whole=whole
        )
        outgoing = await app.answer(incoming)
        assert outgoing is not None
        return outgoing

    assert (await post(b"0123456789")).body == b'{"name":"10 bytes","sizeBytes":0}'
    assert (await post(b"0123456789x")).status == 413


async def test_request_ids_are_never_the_same(app: EdgeApp) -> None:
    ids = [(await request(app, "GET", "/v1/open")).headers["x-request-id"] for _ in range(200)]
    assert len(set(ids)) == 200
    assert {len(id) for id in ids} == {24}


async def test_public_routes_look_at_no_credentials(app: EdgeApp) -> None:
    assert (await request(app, "GET", "/v1/open", authorization="Basic x")).status == 200
    assert (await request(app, "GET", "/v1/things", authorization="Basic x")).status == 401
