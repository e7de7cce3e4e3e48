"""HTTP over our server: what an ordinary client relies on, also against stock Hypercorn as the oracle."""

import pytest
from structlog.typing import EventDict

from tests.edge.apps import Application
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


async def test_a_large_response_reaches_a_client_that_reads_late() -> None:
    async with running(Application()) as base_url, raw(base_url) as connection:
        await connection.send(b"GET /big HTTP/1.1\r\nHost: t\r\n\r\nGET /next HTTP/1.1\r\nHost: t\r\n\r\n")
        assert await alive(base_url)
        _, _, big = await connection.read_response()
        _, _, following = await connection.read_response()
    assert big == b"x" * 8_000_000
    assert following == b"GET /next 0"


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
