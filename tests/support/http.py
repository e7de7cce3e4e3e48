"""Carries the requests of the tests' client over connections of its own, and reads each response whole.

A wire test sends hundreds of requests, and httpx2's own transport took as long for each as the service: a quarter of
the CPU time of such tests. Whatever a client decides, such as cookies and redirects, stays with httpx2.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import POLLIN, poll

import httptools
import httpx2
import trio

_READ_BYTES = 1 << 16


class PlainTransport(httpx2.AsyncBaseTransport):
    """HTTP/1.1 without TLS: one request at a time on a connection, which the next request uses again.

    A request whose caller is cancelled, or waits for longer than the client's timeout, closes its connection.
    """

    def __init__(self) -> None:
        self._idle: dict[tuple[str, int], list[trio.SocketStream]] = defaultdict(list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read its response.

        Raises:
            ConnectError: nothing listens.
            ReadTimeout: there was no response in time.
            RemoteProtocolError: the connection ended before the response did, or that was not HTTP.
        """
        assert request.url.scheme == "http", f"{request.url}: a world is served without TLS"
        address = request.url.host, request.url.port or 80
        sent = _head(request) + await request.aread()
        with _told_as_httpx2_does(request):
            connection = await self._connection(address)
            try:
                with suppress(trio.BrokenResourceError):  # refused before it was read whole, and said why
                    await connection.send_all(sent)
                response = await _received(connection, request)
            except BaseException:
                await trio.aclose_forcefully(connection)
                raise
        if response.headers.get("connection") == "close":
            await connection.aclose()
        else:
            self._idle[address].append(connection)
        return response

    async def _connection(self, address: tuple[str, int]) -> trio.SocketStream:
        idle = self._idle[address]
        while idle:
            connection = idle.pop()
            if not _has_ended(connection):
                return connection
            await connection.aclose()
        return await trio.open_tcp_stream(*address)

    async def aclose(self) -> None:
        """Close all connections."""
        for idle in self._idle.values():
            for connection in idle:
                await connection.aclose()
        self._idle.clear()


class _Heard:
    """What httptools' parser has told of a response. It does not know the parser: the two would be a reference cycle.

    Args:
        method: that of the request: HEAD is answered without the body that the headers tell of.
    """

    def __init__(self, method: str) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self.is_whole = False
        self._is_bodyless = method == "HEAD"

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.is_whole = self._is_bodyless

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_whole = True


def _has_ended(connection: trio.SocketStream) -> bool:
    """Whether the service has closed a connection meanwhile: without a request, it has nothing to say on it."""
    looking = poll()
    looking.register(connection.socket, POLLIN)
    return bool(looking.poll(0))


def _head(request: httpx2.Request) -> bytes:
    assert "transfer-encoding" not in request.headers, "a body whose length is not known is not sent"
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%b: %b" % field for field in request.headers.raw]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _received(connection: trio.SocketStream, request: httpx2.Request) -> httpx2.Response:
    heard = _Heard(request.method)
    parser = httptools.HttpResponseParser(heard)
    while not heard.is_whole:
        data = await connection.receive_some(_READ_BYTES)
        if not data:
            raise httpx2.RemoteProtocolError("the connection ended before the response did", request=request)
        parser.feed_data(data)
    body = httpx2.ByteStream(b"".join(heard.body))
    return httpx2.Response(parser.get_status_code(), headers=heard.headers, stream=body, request=request)


@contextmanager
def _told_as_httpx2_does(request: httpx2.Request) -> Iterator[None]:
    try:
        with trio.fail_after(request.extensions["timeout"]["read"]):
            yield
    except trio.TooSlowError:
        raise httpx2.ReadTimeout("no response in time", request=request) from None
    except trio.BrokenResourceError as error:
        raise httpx2.RemoteProtocolError(str(error), request=request) from error
    except httptools.HttpParserError as error:
        raise httpx2.RemoteProtocolError(str(error), request=request) from error
    except OSError as error:
        raise httpx2.ConnectError(str(error), request=request) from error
