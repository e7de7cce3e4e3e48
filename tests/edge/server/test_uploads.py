"""Bodies that are read piece by piece, over every way in: ours, TLS, HTTP/2, stock Hypercorn."""

import hashlib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Literal

import httpx2
import pytest
import trio
import trio.testing

from tests.edge.certificate import Certificate
from tests.edge.raw import Raw, alive, raw
from tests.edge.uploading import MAX_BYTES, UploadParts, Uploads, application
from tests.support.server import PATIENT, running
from tests.support.waiting import PATIENCE_SECONDS, patience

Way = Literal["lean", "tls", "stock"]

DATA = Random(3).randbytes(1_000_000)
NAME = hashlib.sha256(DATA).hexdigest()[:20]
OCTETS = b"Content-Type: application/octet-stream\r\n"
LENGTH = b"Content-Length: %d\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


@dataclass(frozen=True)
class Service:
    """A service that takes uploads.

    Args:
        base_url: of it.
        uploads: what became of them.
        trusting: for TLS, else None.
        way: in which it is reached.
    """

    base_url: str
    uploads: Uploads
    trusting: ssl.SSLContext | None
    way: Way

    def connect(self) -> AbstractAsyncContextManager[Raw]:
        return raw(self.base_url, self.trusting)

    async def check_alive(self) -> None:
        assert await alive(self.base_url, self.trusting)


@asynccontextmanager
async def serving(way: Way, certificate: Certificate) -> AsyncIterator[Service]:
    parts = UploadParts()
    trusting = certificate.trusting() if way == "tls" else None
    settings = PATIENT
    if way == "tls":
        settings = replace(PATIENT, certificate=certificate.server)
    edge: Literal["lean", "stock"] = "stock" if way == "stock" else "lean"
    async with running(application(parts), edge=edge, settings=settings) as base_url:
        yield Service(base_url, parts.uploads, trusting, way)


@pytest.fixture(params=["lean", "tls", "stock"])
async def service(request: pytest.FixtureRequest, certificate: Certificate) -> AsyncIterator[Service]:
    async with serving(request.param, certificate) as served:
        yield served


def put(*fields: bytes, how: str = "all", media: bytes = OCTETS) -> bytes:
    return b"PUT /v1/pieces/%b HTTP/1.1\r\nHost: t\r\n%b%b\r\n" % (how.encode(), media, b"".join(fields))


def chunks(data: bytes, size: int = 70_000) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


BODIES: dict[str, Callable[[bytes], bytes]] = {
    "with its length": lambda data: put(LENGTH % len(data)) + data,
    "in chunks": lambda data: put(CHUNKED) + chunks(data) + b"0\r\n\r\n",
}


@pytest.mark.parametrize("sent", BODIES)
async def test_a_body_comes_in_pieces_and_the_connection_stays(service: Service, sent: str) -> None:
    async with service.connect() as client:
        for data in (DATA, b"small", DATA):
            await client.send(BODIES[sent](data))
            status, _, body = await client.read_response()
            assert (status, hashlib.sha256(data).hexdigest()[:20] in body.decode()) == (200, True)
    assert service.uploads.ended == ["complete"] * 3
    assert max(service.uploads.sizes) <= 128 * 1024


async def test_an_empty_body_has_no_pieces(service: Service) -> None:
    async with service.connect() as client:
        await client.send(put(LENGTH % 0))
        assert (await client.read_response())[0] == 200
    assert (service.uploads.ended, service.uploads.sizes) == (["complete"], [])


async def test_a_client_that_expects_to_be_asked_is_asked(service: Service) -> None:
    async with service.connect() as client:
        await client.send(put(LENGTH % len(DATA), b"Expect: 100-continue\r\n"))
        assert (await client.read_response())[0] == 100
        await client.send(DATA)
        status, _, body = await client.read_response()
        assert (status, NAME in body.decode()) == (200, True)
        await client.send(b"GET /alive HTTP/1.1\r\nHost: t\r\n\r\n")
        assert (await client.read_response())[0] == 200


async def test_the_client_waits_while_the_handler_works(service: Service) -> None:
    """What is held meanwhile is a small part of what the client has to send."""
    service.uploads.reads = trio.Event()
    total = 0
    async with service.connect() as client, trio.open_nursery() as nursery:
        await client.send(put(LENGTH % MAX_BYTES))

        async def send() -> None:
            nonlocal total
            for _ in range(MAX_BYTES // 65_536):
                await client.send(bytes(65_536))
                total += 65_536

        nursery.start_soon(send)
        with patience():
            await service.uploads.first.wait()
        for _ in range(20):
            await trio.testing.wait_all_tasks_blocked()
        assert len(service.uploads.sizes) == 1
        service.uploads.reads.set()
        assert (await client.read_response())[0] == 200
    assert (total, sum(service.uploads.sizes)) == (MAX_BYTES, MAX_BYTES)


@pytest.mark.parametrize("expects", [b"", b"Expect: 100-continue\r\n"])
async def test_a_length_over_the_bound_is_refused_unread(service: Service, expects: bytes) -> None:
    async with service.connect() as client:
        await client.send(put(LENGTH % (MAX_BYTES + 1), expects))
        status, headers, body = await client.read_response()
        if status == 100 and service.way != "lean":
            status, headers, body = await client.read_response()
        assert (status, b'"maxBytes":%d' % MAX_BYTES in body) == (413, True)
        if service.way != "stock":
            assert headers["connection"] == "close"
            assert await client.read_to_end() == b""
    assert service.uploads.begun == 0
    await service.check_alive()


async def test_a_body_that_grows_over_the_bound_is_refused_meanwhile(service: Service) -> None:
    async with service.connect() as client, trio.open_nursery() as nursery:

        async def send() -> None:
            try:
                await client.send(put(CHUNKED))
                while True:
                    await client.send(chunks(bytes(65_536)))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return

        nursery.start_soon(send)
        status, headers, _ = await client.read_response()
        assert status == 413
        if service.way != "stock":
            assert headers["connection"] == "close"
        nursery.cancel_scope.cancel()
    assert service.uploads.ended == ["PayloadTooLarge"]
    assert sum(service.uploads.sizes) <= MAX_BYTES
    await service.check_alive()


@pytest.mark.parametrize(
    "fields",
    [
        {"media": b""},
        {"media": b"Content-Type: application/json\r\n"},
        {"media": b"Content-Type: application/octet-stream\r\nContent-Encoding: gzip\r\n"},
        {"media": b"Content-Type: %b\r\n" % (b"x" * 300)},
    ],
)
async def test_other_forms_are_refused_unread(service: Service, fields: dict[str, bytes]) -> None:
    async with service.connect() as client:
        await client.send(put(LENGTH % 5, **fields) + b"hello")
        status, _, body = await client.read_response()
        assert (status, b"UNSUPPORTED_MEDIA" in body) == (415, True)
    assert service.uploads.begun == 0
    await service.check_alive()


@pytest.mark.parametrize("sent", [put(LENGTH % 5_000_000) + DATA, put(CHUNKED) + chunks(DATA)])
async def test_a_cut_upload_ends_the_reading(service: Service, sent: bytes) -> None:
    async with service.connect() as client:
        await client.send(sent)
        with patience():
            await service.uploads.first.wait()
    with patience():
        await service.uploads.done.wait()
    assert service.uploads.ended == ["CutShort"]
    await service.check_alive()


async def test_a_body_longer_than_announced_is_not_a_part_of_it(service: Service) -> None:
    async with service.connect() as client:
        await client.send(put(LENGTH % 10) + b"0123456789" + b"\x00 no request\r\n\r\n")
        status, _, body = await client.read_response()
        assert (status, b'"sizeBytes":10' in body) == (200, True)
        assert (await client.read_response())[0] == 400
    assert service.uploads.ended == ["complete"]


async def test_a_broken_chunk_ends_the_reading(service: Service) -> None:
    async with service.connect() as client:
        await client.send(put(CHUNKED) + chunks(DATA))
        with patience():
            await service.uploads.first.wait()
        await client.send(b"no length\r\n")
        await client.read_to_end()
    with patience():
        await service.uploads.done.wait()
    assert service.uploads.ended == ["CutShort"]
    await service.check_alive()


@pytest.mark.parametrize(("how", "status"), [("refused", 422), ("enough", 200)])
async def test_what_the_handler_leaves_unread_is_no_request(service: Service, how: str, status: int) -> None:
    """A rest that reads as a request: it is dropped, and the client told that the connection ends."""
    rest = b"GET /alive HTTP/1.1\r\nHost: t\r\n\r\n" * 10
    async with service.connect() as client:
        await client.send(put(LENGTH % (len(DATA) + len(rest)), how=how) + DATA[:1000])
        answered, headers, _ = await client.read_response()
        assert answered == status
        if service.way != "stock":
            assert headers["connection"] == "close"
            await client.send(DATA[1000:] + rest)
            assert await client.read_to_end() == b""
    await service.check_alive()


@pytest.mark.parametrize(("how", "status"), [("refused", 422), ("enough", 200)])
async def test_a_body_that_has_come_but_was_not_read_keeps_the_connection(
    service: Service, how: str, status: int
) -> None:
    async with service.connect() as client:
        for _ in range(2):
            await client.send(put(LENGTH % 5, how=how) + b"hello")
            assert (await client.read_response())[0] == status


async def test_uploads_over_http2_are_bounded_as_over_http1(certificate: Certificate) -> None:
    async with (
        serving("tls", certificate) as service,
        httpx2.AsyncClient(verify=certificate.trusting(), http2=True, timeout=PATIENCE_SECONDS) as client,
    ):
        request = partial(
            client.put,
            service.base_url + "/v1/pieces/all",
            headers={"content-type": "application/octet-stream"},
        )
        whole = await request(content=DATA)
        assert (whole.http_version, whole.status_code, NAME in whole.text) == ("HTTP/2", 200, True)
        assert (await request(content=bytes(MAX_BYTES + 1))).status_code == 413
        assert (await request(content=_endless())).status_code == 413
        assert (await request(content=DATA)).json()["name"] == NAME
    assert service.uploads.ended == ["complete", "PayloadTooLarge", "complete"]


async def _endless() -> AsyncIterator[bytes]:
    for _ in range(MAX_BYTES // 65_536 + 1):
        yield bytes(65_536)
