"""What the pipeline counts, for whom, and what a client is told of it."""

import pytest

from routes.edge import policies
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import request
from tests.edge.parts import Parts

THING = "aaaa0000aaaa0000aaaa0000"
PARTS = f"/v1/things/{THING}/parts"


async def test_rate_limit_fields(app: EdgeApp, parts: Parts) -> None:
    first = await request(app, "POST", PARTS, {"name": "taken"}, token="ann")
    assert first.headers["ratelimit-policy"] == '"chat-send";q=30;w=10'
    assert first.headers["ratelimit"] == '"chat-send";r=29;t=1'
    for _ in range(29):
        await request(app, "POST", PARTS, {"name": "taken"}, token="ann")
    refused = await request(app, "POST", PARTS, {"name": "taken"}, token="ann")
    assert (refused.code, refused.headers["retry-after"]) == ("RATE_LIMITED", "1")
    assert refused.json["meta"] == {"retryAfterMs": 334}
    assert (await request(app, "POST", PARTS, {"name": "taken"}, token="bob")).status == 409
    other = await request(
        app, "POST", "/v1/things/aaaa1111aaaa1111aaaa1111/parts", {"name": "taken"}, token="ann"
    )
    assert other.status == 409
    parts.clock.at_ms += 334
    assert (await request(app, "POST", PARTS, {"name": "taken"}, token="ann")).status == 409


async def test_ids_that_nobody_knows_are_counted_for_the_caller_and_keep_no_bucket(
    app: EdgeApp, parts: Parts
) -> None:
    codes = set()
    for number in range(300):
        path = f"/v1/things/bbbb{number:020x}/parts"
        codes.add((await request(app, "POST", path, {"name": "x"}, token="ann")).code)
    assert codes == {"CONVERSATION_NOT_FOUND"}
    kept = len(parts.limits)
    refused = await request(app, "POST", path, {"name": "x"}, token="ann")
    assert (refused.code, refused.json["meta"]) == ("RATE_LIMITED", {"retryAfterMs": 200})
    assert kept == len(parts.limits) == 1
    assert (await request(app, "POST", path, {"name": "x"}, token="bob")).status == 404


async def test_a_drained_conversation_does_not_use_up_the_others(app: EdgeApp) -> None:
    for _ in range(400):
        await request(app, "POST", PARTS, {"name": "taken"}, token="ann")
    other = PARTS.replace("0000/parts", "1111/parts")
    assert (await request(app, "POST", other, {"name": "taken"}, token="ann")).status == 409


async def test_wrong_tokens_are_limited_by_address(app: EdgeApp) -> None:
    answers = [await request(app, "GET", "/v1/things", token=f"wrong{n}") for n in range(61)]
    assert [answer.status for answer in answers] == [401] * 60 + [429]
    assert answers[-1].headers["ratelimit-policy"] == '"bad-credentials";q=60;w=60'
    # Who is known is not asked; who comes from elsewhere has counted nothing.
    assert (await request(app, "GET", "/v1/things", token="ann")).status == 200
    assert (await request(app, "GET", "/v1/things", token="wrong", peer="192.0.2.7")).status == 401


@pytest.mark.parametrize(
    "given",
    [
        {"method": "GET", "target": "/v1/nowhere"},
        {"method": "DELETE", "target": PARTS},
        {"method": "OPTIONS", "target": PARTS},
        {"method": "GET", "target": "/v1/things"},
        {"method": "GET", "target": "/v1/things", "token": "old"},
        {"method": "GET", "target": "/v1/things", "authorization": "Basic x"},
        {"method": "GET", "target": f"/v1/files/x?token={THING}", "token": "ann"},
        {"method": "GET", "target": f"/v1/things/{THING}/live", "websocket": True},
        {"method": "GET", "target": f"/v1/things/{THING}/live", "websocket": True, "origin": "https://evil.example"},
    ],
    ids=lambda given: " ".join(map(str, given.values())),
)  # fmt: skip
async def test_what_gets_nowhere_is_counted_by_address(
    app: EdgeApp, parts: Parts, given: dict[str, object]
) -> None:
    astray = policies.ASTRAY
    first = await request(app, **given)  # type: ignore[arg-type]
    assert first.status != 429
    while parts.limits.take(astray, "198.51.100.1", parts.clock.now_ms()).remaining:
        pass
    assert (await request(app, **given)).status == 429  # type: ignore[arg-type]
    assert (await request(app, **given, peer="192.0.2.7")).status == first.status  # type: ignore[arg-type]
    assert (await request(app, "GET", "/v1/things", token="ann")).status == 200
    parts.clock.at_ms += 50
    assert (await request(app, **given)).status == first.status  # type: ignore[arg-type]
