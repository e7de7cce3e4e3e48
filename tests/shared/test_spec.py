"""What holds exchanges against the documents lets pass what these tell of, and nothing else."""

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema_rs import ValidationError

from tests.support.spec import Answer, spec

OPTIONS = "/v1/profile/minecraft-options"

LEVEL = Answer(
    method="GET",
    path="/v1/profile/level",
    status=200,
    headers={"content-type": "application/json", "x-request-id": "r1", "date": "today"},
    body=b'{"level":1,"xp":0,"xpForNext":100,"totalXp":0}',
)

PROBLEM: dict[str, Any] = {
    "type": "urn:problem:unauthenticated",
    "title": "Unauthorized",
    "status": 401,
    "code": "UNAUTHENTICATED",
    "message": "valid credentials are required",
    "detail": "valid credentials are required",
    "requestId": "r1",
}


def refusal(**changed: object) -> Answer:
    """A 401 whose problem document has these members otherwise."""
    headers = {
        "content-type": "application/problem+json",
        "x-request-id": "r1",
        "www-authenticate": "Bearer",
    }
    return replace(LEVEL, status=401, headers=headers, body=json.dumps({**PROBLEM, **changed}).encode())


def test_what_the_document_tells_of_passes() -> None:
    spec().check(LEVEL)
    spec().check(replace(LEVEL, method="HEAD", body=b""))
    spec().check(replace(LEVEL, method="OPTIONS", status=204, body=b""))
    spec().check(replace(LEVEL, path="/nowhere", status=404))
    spec().check(refusal())


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(replace(LEVEL, path="/nowhere"), id="route"),
        pytest.param(replace(LEVEL, status=201), id="status"),
        pytest.param(replace(LEVEL, body=b""), id="no body"),
        pytest.param(replace(LEVEL, body=b'{"level":1,"xp":0,"xpForNext":100}'), id="field missing"),
        pytest.param(replace(LEVEL, body=LEVEL.body[:-1] + b',"more":1}'), id="field beside"),
        pytest.param(replace(LEVEL, headers={**LEVEL.headers, "content-type": "text/html"}), id="media"),
        pytest.param(replace(LEVEL, headers={**LEVEL.headers, "etag": '"1"'}), id="header beside"),
        pytest.param(replace(LEVEL, headers={"content-type": "application/json"}), id="header missing"),
        pytest.param(
            replace(LEVEL, method="POST", path="/v1/auth/revoke", status=204, body=b"{}"), id="body of a 204"
        ),
        pytest.param(refusal(code="FORBIDDEN"), id="code of another status"),
        pytest.param(refusal(code="TOKEN_EXPIRED"), id="type of another code"),
        pytest.param(refusal(status=403), id="status in the problem"),
        pytest.param(refusal(detail="else"), id="detail"),
        pytest.param(refusal(requestId="r2"), id="request id"),
        pytest.param(refusal(errors=[]), id="errors beside a 401"),
    ],
)
def test_nothing_else_passes(answer: Answer) -> None:
    with pytest.raises((AssertionError, ValidationError)):
        spec().check(answer)


def test_requests_that_were_accepted_are_as_described() -> None:
    sent = {"content-type": "application/json"}
    spec().check_request("PUT", OPTIONS, {**sent, "if-match": '"1"'}, b'{"options":{},"beside":1}')
    spec().check_request("GET", OPTIONS, {}, b"")
    for method, path, headers, body in (
        ("PUT", OPTIONS, sent, b""),
        ("PUT", OPTIONS, sent, b"{}"),
        ("PUT", OPTIONS, sent, b'{"options":{},"revision":"1"}'),
        ("POST", "/v1/auth/revoke", {"if-match": '"1"'}, b""),
    ):
        with pytest.raises((AssertionError, ValidationError)):
            spec().check_request(method, path, headers, body)


def test_frames_are_as_the_stream_and_its_channel_are_described() -> None:
    check = spec().frames_of("/v1/social/live")
    event: dict[str, Any] = {
        "type": "event",
        "channel": "conversation:65f0",
        "epoch": "k",
        "offset": None,
        "event": "typing",
        "data": {"userId": "u", "expiresAtMs": 1},
    }
    check(json.dumps(event))
    check(json.dumps({"type": "pong", "id": 1}))
    for broken in (
        {"type": "pong"},
        {"type": "pong", "id": 1, "more": 1},
        {"type": "news"},
        {**event, "data": {"userId": "u"}},
        {**event, "data": {**event["data"], "more": 1}},
        {**event, "self": {}},
    ):
        with pytest.raises(ValidationError):
            check(json.dumps(broken))
    with pytest.raises(KeyError):
        check(json.dumps({**event, "event": "whispering"}))
