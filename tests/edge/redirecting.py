"""A server that redirects to another one, which has a certificate and a private address that counts as public."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trio
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from routes.edge.outgoing_http import Upstream
from routes.edge.outgoing_redirects import Redirects
from tests.support.waiting import PATIENCE_SECONDS

HOST = "cdn.example"
HOSTS = frozenset({HOST, "other.example"})


class Site:
    """A server that answers each path with what a table says, over TLS or not; it keeps what it was asked."""

    def __init__(self, answers: dict[str, bytes], tls: ssl.SSLContext | None = None) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.port = 0
        self._tls = tls

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._answer, listeners, task_status=task_status)  # type: ignore[arg-type]

    async def _answer(self, socket: trio.SocketStream) -> None:
        stream = (
            socket
            if self._tls is None
            else trio.SSLStream(socket, self._tls, server_side=True, https_compatible=True)
        )
        try:
            request = (await stream.receive_some()).decode()
            self.asked.append(request)
            await stream.send_all(self.answers[request.split(" ")[1]])
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(socket)


def to(location: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


BYTES = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS of a server with this name, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        made.public_bytes(Encoding.PEM) + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cafile=str(file))


@asynccontextmanager
async def redirecting(
    folder: Path, base: dict[str, str], target: dict[str, bytes], *, named: str = HOST
) -> AsyncIterator[tuple[Site, Site, Upstream]]:
    """A server that redirects to another one, which has a certificate for this name, at a private address that counts
    as public."""
    server_tls, client_tls = certificate(folder, named)
    cdn = Site(target, server_tls)
    async with trio.open_nursery() as nursery:
        await nursery.start(cdn.serve)
        places = {path: to(location.replace("PORT", str(cdn.port))) for path, location in base.items()}
        api = Site(places)
        await nursery.start(api.serve)

        async def resolve(_host: str) -> list[str]:
            return ["127.0.0.1"]

        redirects = Redirects(
            hosts=HOSTS, resolve=resolve, is_allowed="127.0.0.1".__eq__, tls=client_tls, port=cdn.port
        )
        url = f"http://127.0.0.1:{api.port}"
        async with Upstream(url, seconds=PATIENCE_SECONDS, max_bytes=100, redirects=redirects) as upstream:
            yield api, cdn, upstream
        nursery.cancel_scope.cancel()
