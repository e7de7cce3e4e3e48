"""A certificate is exchanged while the server runs: new connections get the new one, open ones go on."""

import ssl
from pathlib import Path

import httpx2
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from structlog.typing import EventDict

from routes.edge.server.server import ServerSettings
from routes.edge.tls.certificate import CertificateFault, ServerCertificate
from tests.edge.apps import Application
from tests.edge.certificate import Certificate
from tests.support.server import running
from tests.support.waiting import PATIENCE_SECONDS


def client(trusting: ssl.SSLContext) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(verify=trusting, timeout=PATIENCE_SECONDS)


async def test_open_connections_outlive_their_certificate(certificate: Certificate, tmp_path: Path) -> None:
    server, before = certificate.server, certificate.trusting()
    settings = ServerSettings(certificate=server)
    async with running(Application(), settings=settings) as base_url, client(before) as old:
        assert (await old.post(base_url + "/x", content=b"1")).status_code == 200
        assert not server.renew()
        Certificate(tmp_path)
        assert server.renew()
        async with client(certificate.trusting()) as new, client(before) as stranger:
            assert (await new.post(base_url + "/x", content=b"2")).status_code == 200
            with pytest.raises(httpx2.ConnectError):
                await stranger.get(base_url)
        # The same connection: another one would not be trusted.
        assert (await old.post(base_url + "/x", content=b"3")).status_code == 200


def test_half_an_exchange_changes_nothing(
    certificate: Certificate, tmp_path: Path, faults: list[EventDict]
) -> None:
    server = certificate.server
    context = server.context
    (tmp_path / "next").mkdir()
    after = Certificate(tmp_path / "next")
    after.certfile.replace(certificate.certfile)
    assert (server.renew(), server.renew()) == (False, False)
    assert server.context is context
    (line,) = faults
    assert (line["log_level"], "stays in use" in line["event"]) == ("warning", True)
    after.keyfile.replace(certificate.keyfile)
    assert server.renew()
    assert server.context is not context
    certificate.keyfile.unlink()
    assert not server.renew()


@pytest.mark.parametrize("wrong", ["absent", "no certificate", "no key", "encrypted", "of another"])
def test_what_cannot_be_used_is_one_line(wrong: str, certificate: Certificate, tmp_path: Path) -> None:
    cert, key = certificate.certfile, certificate.keyfile
    if wrong == "absent":
        key.unlink()
    elif wrong == "of another":
        whole = key.read_bytes()
        Certificate(tmp_path)
        key.write_bytes(whole)
    elif wrong == "encrypted":
        secret = load_pem_private_key(key.read_bytes(), None)
        sealed = BestAvailableEncryption(b"secret")
        key.write_bytes(secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed))
    else:
        (cert if wrong == "no certificate" else key).write_bytes(b"-----BEGIN NONSENSE-----")
    with pytest.raises(CertificateFault) as fault:
        ServerCertificate(cert, key)
    assert "\n" not in str(fault.value)
    assert str(key) in str(fault.value)
