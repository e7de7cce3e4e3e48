"""How long a body that is read piece by piece may take, and what becomes of its handler."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from routes.edge.body_pieces import LEAST_BYTES_PER_SECOND, SILENCE_SECONDS, BodyPieces
from routes.edge.declare.endpoint import endpoint
from routes.edge.docs.openapi import document
from routes.edge.pipeline.call import Call
from routes.edge.principal import PUBLIC
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import Answered, request
from tests.edge.uploading import TABLE, UploadParts, application

Receive = Callable[[], Awaitable[dict[str, object]]]


@asynccontextmanager
async def serving(parts: UploadParts) -> AsyncIterator[EdgeApp]:
    app = application(parts)
    async with app.test_app():
        yield app


async def put(app: EdgeApp, receive: Receive, *, length: int | None = None) -> tuple[int, bytes]:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/octet-stream")]
    if length is not None:
        headers.append((b"content-length", b"%d" % length))
    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/v1/pieces/all",
        "query_string": b"",
        "headers": headers,
    }
    await app(scope | {"client": ("198.51.100.1", 5)}, receive, send)  # type: ignore[arg-type]
    return int(str(sent[0]["status"])), bytes(sent[1]["body"])  # type: ignore[call-overload]


def trickle(*, piece: int, every_seconds: float, times: int) -> Receive:
    """Pieces of a body, each after a pause; the last one is the end."""
    left = times

    async def receive() -> dict[str, object]:
        nonlocal left
        await trio.sleep(every_seconds)
        left -= 1
        return {"type": "http.request", "body": bytes(piece), "more_body": left > 0}

    return receive


@pytest.mark.parametrize(
    ("piece", "every_seconds", "times", "status", "ends_at_seconds"),
    [
        pytest.param(1, SILENCE_SECONDS - 1, 1, 200, 59, id="one byte, just in time"),
        pytest.param(1, SILENCE_SECONDS + 1, 1, 408, 60, id="silence"),
        pytest.param(1, 20, 100, 408, 60, id="a byte now and then"),
        pytest.param(60 * LEAST_BYTES_PER_SECOND, 59, 8, 200, 472, id="slow but steady"),
        pytest.param(LEAST_BYTES_PER_SECOND // 2, 1, 500, 408, 119, id="half as fast as it must be"),
    ],
)
async def test_a_body_may_be_slow_but_not_for_ever(
    autojump_clock: trio.testing.MockClock,
    piece: int,
    every_seconds: float,
    times: int,
    status: int,
    ends_at_seconds: float,
) -> None:
    parts = UploadParts()
    async with serving(parts) as app:
        began = trio.current_time()
        answered, body = await put(app, trickle(piece=piece, every_seconds=every_seconds, times=times))
        assert answered == status, body
        assert trio.current_time() - began == pytest.approx(ends_at_seconds, abs=1.5)
    assert parts.uploads.ended == (["complete"] if status == 200 else ["RequestTimeout"])


async def test_a_byte_that_comes_while_the_service_stands_still(mock_clock: trio.testing.MockClock) -> None:
    """It is late already when it is seen."""
    parts = UploadParts()

    async def receive() -> dict[str, object]:
        mock_clock.jump(SILENCE_SECONDS + 1)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async with serving(parts) as app:
        assert (await put(app, receive))[0] == 408
    assert parts.uploads.ended == ["RequestTimeout"]


async def test_the_handler_has_the_usual_time_for_each_piece(autojump_clock: trio.testing.MockClock) -> None:
    parts = UploadParts()
    parts.uploads.reads = trio.Event()
    async with serving(parts) as app:
        began = trio.current_time()
        answered, body = await put(app, trickle(piece=1, every_seconds=50, times=3))
        assert (answered, b"OVERLOADED" in body) == (503, True)
        assert trio.current_time() - began == pytest.approx(50 + parts.config.request_seconds)
    assert parts.uploads.ended == ["Cancelled"]


@pytest.mark.parametrize(("announced", "ended"), [(3, "complete"), (2, "CutShort"), (4, "CutShort")])
async def test_another_length_than_announced_is_no_body(announced: int, ended: str) -> None:
    """Whatever a carrier lets pass."""
    parts = UploadParts()
    async with serving(parts) as app:
        answered, _ = await put(app, trickle(piece=1, every_seconds=0, times=3), length=announced)
    assert (answered, parts.uploads.ended) == (200 if ended == "complete" else 400, [ended])


async def test_a_cancelled_request_ends_its_handler() -> None:
    parts = UploadParts()
    async with serving(parts) as app, trio.open_nursery() as nursery:
        nursery.start_soon(put, app, trickle(piece=1, every_seconds=1000, times=1))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert parts.uploads.ended == ["Cancelled"]


async def test_a_body_that_came_whole_is_one_piece() -> None:
    parts = UploadParts()
    async with serving(parts) as app:
        answer: Answered = await request(
            app, "PUT", "/v1/pieces/all", b"hello", content_type="application/octet-stream"
        )
    assert (answer.status, parts.uploads.sizes) == (200, [5])


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_pieces_are_put(method: str) -> None:
    async def other(call: Call, body: BodyPieces) -> None: ...

    async def optional(call: Call, body: BodyPieces | None) -> None: ...

    with pytest.raises(ValueError, match="put"):
        endpoint(method, "/v1/x", needs=PUBLIC)(other)
    with pytest.raises(ValueError, match="always a body"):
        endpoint("PUT", "/v1/x", needs=PUBLIC)(optional)


def test_openapi_says_that_the_body_is_binary_and_takes_a_key() -> None:
    operation = document(TABLE)["paths"]["/v1/pieces/{how}"]["put"]
    assert operation["requestBody"] == {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
    assert [parameter["name"] for parameter in operation["parameters"]] == ["how", "Idempotency-Key"]
    assert {"400", "408", "413", "415"} <= set(operation["responses"])
