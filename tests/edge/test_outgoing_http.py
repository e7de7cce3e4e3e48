"""Requests to other servers, against one that says over a socket what it is told to."""

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import pytest
import trio
from structlog.testing import capture_logs

from routes.edge.outgoing_http import AnswerRefused, NotAnswered, NotSent, OutgoingFault, Upstream
from tests.edge.certificate import Certificate
from tests.support.waiting import PATIENCE_SECONDS, patience

MAX_BYTES = 1000
CANARY = "canary-key-8fJ2"


@dataclass
class Scripted:
    """A server that answers each connection's first request with the same bytes.

    Args:
        says: in pieces; it closes the connection after the last.
        silent: it keeps the connection open instead, until the other side closes it.
        asked: the requests, whole.
    """

    says: list[bytes]
    silent: bool = False
    asked: list[bytes] = field(default_factory=list)
    began: trio.Event = field(default_factory=trio.Event)
    closed: trio.Event = field(default_factory=trio.Event)
    port: int = 0

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._connection, listeners, task_status=task_status)  # type: ignore[arg-type]

    async def _connection(self, stream: trio.SocketStream) -> None:
        try:
            request = b""
            while not request.endswith(b"\r\n\r\n" if request.startswith(b"GET") else b"x=1"):
                if not (more := await stream.receive_some()):
                    return
                request += more
            self.asked.append(request)
            self.began.set()
            for piece in self.says:
                await stream.send_all(piece)
            while self.silent and await stream.receive_some():
                pass
        except trio.BrokenResourceError:
            pass
        finally:
            self.closed.set()
            await stream.aclose()


def answer(*heads: str, body: bytes = b"", status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Connection: close", *heads, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def scripted(
    *says: bytes, silent: bool = False, seconds: float = PATIENCE_SECONDS
) -> AsyncIterator[tuple[Scripted, Upstream]]:
    server = Scripted(list(says), silent)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        base = f"http://127.0.0.1:{server.port}/base"
        async with Upstream(base, seconds=seconds, max_bytes=MAX_BYTES) as upstream:
            yield server, upstream
        nursery.cancel_scope.cancel()


async def test_a_request_as_it_is_sent(monkeypatch: pytest.MonkeyPatch):
    """Proxies of the environment are not asked, and cookies are not kept."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    says = answer("Set-Cookie: a=b", "Retry-After: 7", "Content-Length: 2", body=b"{}")
    async with scripted(says) as (server, upstream):
        for _ in range(2):
            found = await upstream.ask(
                "POST",
                ("v1", "things"),
                query=[("q", "a b&c")],
                headers={"Authorization": f"Bearer {CANARY}"},
                body=b"x=1",
            )
    assert (found.status, found.body, found.header("retry-after"), found.header("etag")) == (
        200,
        b"{}",
        "7",
        None,
    )
    assert CANARY not in repr(found)
    for request in server.asked:
        head, _, body = request.decode().partition("\r\n\r\n")
        first, *fields = head.lower().split("\r\n")
        assert first == "post /base/v1/things?q=a+b%26c http/1.1"
        sent = dict(line.split(": ", 1) for line in fields)
        assert sent.pop("user-agent").startswith("partyline/")
        assert sent == {
            "host": f"127.0.0.1:{server.port}",
            "authorization": f"bearer {CANARY.lower()}",
            "accept-encoding": "identity",
            "content-length": "3",
        }
        assert body == "x=1"


@pytest.mark.parametrize(
    "part",
    [
        "",
        ".",
        "..",
        "...",
        "a/b",
        "a\\b",
        "%2e%2e",
        "a?b",
        "a#b",
        "@evil",
        "a\r\n",
        "a\n",
        "ä",
        "a b",
        ";",
        "x" * 254,
    ],
)
async def test_segments_that_are_never_sent(part: str):
    async with scripted() as (server, upstream):
        with pytest.raises(ValueError, match="not a segment"):
            await upstream.ask("GET", ("v1", part))
    assert server.asked == []


FULL = answer(f"Content-Length: {MAX_BYTES}", body=b"x" * MAX_BYTES)
ENDLESS = answer("Transfer-Encoding: chunked", body=b"400\r\n" + b"x" * 1024 + b"\r\n")
BOMB = answer("Content-Encoding: gzip", body=gzip.compress(b"0" * 1_000_000))


async def test_the_largest_answer():
    async with scripted(FULL) as (_, upstream):
        assert len((await upstream.ask("GET", ("x",))).body) == MAX_BYTES


@pytest.mark.parametrize(
    ("says", "silent", "fault"),
    [
        pytest.param(answer(body=b"x" * (MAX_BYTES + 1)), False, AnswerRefused, id="a byte too many"),
        pytest.param(ENDLESS, True, AnswerRefused, id="too many bytes, without an end"),
        pytest.param(BOMB, True, AnswerRefused, id="encoded"),
        pytest.param(
            answer("Location: http://127.0.0.1:1/", status="302 Found"), True, AnswerRefused, id="redirect"
        ),
        pytest.param(
            answer("Location: /v1/y", status="307 Go"), False, AnswerRefused, id="redirect to itself"
        ),
        pytest.param(b"", False, NotAnswered, id="nothing"),
        pytest.param(answer("Content-Length: 9", body=b"cut"), False, NotAnswered, id="cut off"),
        pytest.param(b"SSH-2.0-canary\r\n", False, NotAnswered, id="not HTTP"),
        pytest.param(answer("X: " + "x" * 200_000), True, NotAnswered, id="a head without bound"),
    ],
)
async def test_what_is_not_taken(says: bytes, silent: bool, fault: type[OutgoingFault]):
    """At once, even where the other side would go on; and its connection is closed."""
    async with scripted(says, silent=silent) as (server, upstream):
        with pytest.raises(fault) as raised:
            await upstream.ask("GET", ("x",))
        with patience():
            await server.closed.wait()
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    assert len(server.asked) == 1


async def test_a_server_that_never_answers():
    async with scripted(silent=True, seconds=0.05) as (_, upstream):
        with pytest.raises(NotAnswered, match="has not answered") as raised:
            await upstream.ask("GET", ("x",))
    # It has the request, so nobody may believe that it was not sent.
    assert not isinstance(raised.value, NotSent)


async def test_a_server_that_is_not_there():
    async with Upstream("http://127.0.0.1:1", seconds=PATIENCE_SECONDS, max_bytes=1) as upstream:
        with pytest.raises(NotSent):
            await upstream.ask("POST", ("x",), body=b"x")


async def test_the_log_says_once_what_is_wrong_with_a_certificate(certificate: Certificate):
    async def silent(stream: trio.SSLStream[trio.SocketStream]) -> None:
        with suppress(trio.BrokenResourceError):
            await stream.receive_some()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_ssl_over_tcp, silent, 0, certificate.serving(), host="127.0.0.1")
        (listener,) = await nursery.start(serve)
        host = f"127.0.0.1:{listener.transport_listener.socket.getsockname()[1]}"
        async with Upstream(f"https://{host}", seconds=PATIENCE_SECONDS, max_bytes=1) as upstream:
            with capture_logs() as lines:
                for _ in range(2):
                    with pytest.raises(NotSent):
                        await upstream.ask("POST", ("x",), headers={"authorization": CANARY}, body=b"x")
        nursery.cancel_scope.cancel()
    (line,) = lines
    assert (line["server"], line["why"]) == (host, "self-signed certificate")
    assert CANARY not in repr(line)


@pytest.mark.parametrize(
    "address",
    [
        "https://issuer:port",
        "https://999.1.1.1",
        "https://[v1.x]",
        "https://ａ",
        "https://a..b",
        f"https://{'a' * 64}.example",
    ],
)
async def test_an_address_that_is_none(address: str):
    """As another server may name one, such as an issuer its endpoint of tokens."""
    async with Upstream(address, seconds=PATIENCE_SECONDS, max_bytes=1) as upstream:
        with pytest.raises(NotSent):
            await upstream.ask("GET", ("x",))


async def test_being_cancelled_closes_the_connection():
    async with (
        scripted(answer("Content-Length: 9", body=b"be"), silent=True) as (server, upstream),
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(upstream.ask, "GET", ("x",))
        with patience():
            await server.began.wait()
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True), patience():
            await server.closed.wait()
