"""HTTP over our server: what an ordinary client relies on, also against stock Hypercorn as the oracle."""

from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from structlog.typing import EventDict

from routes.edge.incoming import Incoming
from routes.edge.outgoing import FileSlice, Outgoing
from routes.edge.server.quart_app import send_response
from tests.edge.apps import Application, plain
from tests.edge.raw import alive, raw
from tests.support.server import EDGES, Edge, running


@pytest.mark.parametrize("edge", EDGES)
async def test_pipelined_requests_are_answered_in_order(edge: Edge) -> None:
    app = Application()
    async with running(app, edge=edge) as base_url, raw(base_url) as connection:
        await connection.send(
            b"POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc"
            b"POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            b"GET /c HTTP/1.1\r\nHost: t\r\n\r\n"
        )
        bodies = [(await connection.read_response())[2] for _ in range(3)]
    assert bodies == [b"POST /a 3", b"POST /b 5", b"GET /c 0"]


@pytest.mark.parametrize("edge", EDGES)
async def test_responses_in_pieces(edge: Edge) -> None:
    async with running(Application(), edge=edge) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /streamed HTTP/1.1\r\nHost: t\r\n\r\n")
        status, headers, body = await connection.read_response()
        assert (status, body) == (200, b"onetwothree")
        assert headers["transfer-encoding"] == "chunked"
        await connection.send(b"HEAD /x HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        assert (await connection.read_to_end()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /x HTTP/1.1\r\n\r\n", 400),
        (b"GET /x HTTP/1.1\r\nHost: t\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
    ],
)
async def test_what_cannot_be_read_is_answered_with_the_date(sent: bytes, status: int, edge: Edge) -> None:
    """RFC 9110 §6.6.1 wants one in each response of 2xx to 4xx."""
    async with running(Application(), edge=edge) as base_url, raw(base_url) as connection:
        await connection.send(sent)
        answered, headers, _ = await connection.read_response()
    assert answered == status
    assert parsedate_to_datetime(headers["date"]).tzinfo is UTC


async def test_a_large_response_reaches_a_client_that_reads_late() -> None:
    async with running(Application()) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /big HTTP/1.1\r\nHost: t\r\n\r\nGET /next HTTP/1.1\r\nHost: t\r\n\r\n")
        assert await alive(base_url)
        _, _, big = await connection.read_response()
        _, _, following = await connection.read_response()
    assert big == b"x" * 8_000_000
    assert following == b"GET /next 0"


@pytest.mark.parametrize("direct", [True, False])
async def test_a_client_that_ends_its_side_is_still_answered(direct: bool) -> None:
    app = Application()
    async with running(app if direct else plain(app)) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /a HTTP/1.1\r\nHost: t\r\n\r\n" * 3)
        await connection.stream.send_eof()
        assert [(await connection.read_response())[2] for _ in range(3)] == [b"GET /a 0"] * 3
        assert await connection.read_to_end() == b""


@pytest.mark.parametrize("sent", [b"", b"ab", b"abcd"])
async def test_a_body_of_another_length_ends_the_connection(sent: bytes, faults: list[EventDict]) -> None:
    """The next response must not be read as the rest of this one."""

    async def wrong(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await Application()(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
        for piece in (sent[:3], sent[3:]):
            await send({"type": "http.response.body", "body": piece, "more_body": piece == sent[:3] != b""})

    async with running(wrong) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /a HTTP/1.1\r\nHost: t\r\n\r\n" * 2)
        received = await connection.read_to_end()
        assert received.count(b"HTTP/1.1 ") == 1
        assert (b" 500 " in received) is (len(sent) == 0)
    assert len(faults) == 1
    faults.clear()


async def test_no_body_where_there_can_be_none() -> None:
    async def talkative(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http":
            await Application()(scope, receive, send)
            return
        status = int(scope["path"][1:])
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"hello", "more_body": False})

    async with running(talkative) as base_url, raw(base_url) as connection:
        for status in (204, 304, 200):
            await connection.send(b"GET /%d HTTP/1.1\r\nHost: t\r\n\r\n" % status)
            answered, _, body = await connection.read_response()
            assert (answered, body) == (status, b"hello" if status == 200 else b"")


async def test_a_file_that_was_cut_shorter_ends_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)

    class Files(Application):
        """Answers with the file."""

        async def answer(self, incoming: Incoming) -> Outgoing | None:
            length = int(incoming.path[1:])
            headers = [(b"content-length", b"%d" % length)]
            return Outgoing(200, headers, FileSlice(path, 0, length))

    async with running(Files()) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /70000 HTTP/1.1\r\nHost: t\r\n\r\n")
        assert (await connection.read_response())[2] == b"x" * 70_000
        await connection.send(b"GET /100001 HTTP/1.1\r\nHost: t\r\n\r\n" * 2)
        received = await connection.read_to_end()
        assert received.count(b"HTTP/1.1 ") == 1
        assert received.endswith(b"x" * 100_000)


@pytest.mark.parametrize("direct", [True, False])
async def test_a_file_is_closed_when_its_client_leaves(tmp_path: Path, direct: bool) -> None:
    """Left to the collector, it would be a warning, which is an error here."""
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)

    length = path.stat().st_size
    response = Outgoing(200, [(b"content-length", b"%d" % length)], FileSlice(path, 0, length))

    class Files(Application):
        """Answers with the file, which is more than sockets hold."""

        async def answer(self, incoming: Incoming) -> Outgoing | None:
            return response

        async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            if scope["type"] == "http":
                await send_response(send, response)
            else:
                await super().__call__(scope, receive, send)

    async with running(Files() if direct else plain(Files())) as base_url:
        for _ in range(3):
            async with raw(base_url) as connection:
                await connection.send(b"GET /file HTTP/1.1\r\nHost: t\r\n\r\n")
                await connection.stream.receive_some(1)


async def test_an_exception_of_the_application_ends_one_request(faults: list[EventDict]) -> None:
    async with running(Application()) as base_url, raw(base_url) as other:
        async with raw(base_url) as connection:
            await connection.send(b"GET /boom HTTP/1.1\r\nHost: t\r\n\r\n")
            status, _, _ = await connection.read_response()
            assert status == 500
        await other.send(b"GET /x HTTP/1.1\r\nHost: t\r\n\r\n")
        assert (await other.read_response())[0] == 200
    assert [repr(line["exc_info"]) for line in faults] == ["ValueError('the application is broken')"]
    faults.clear()
