"""`partyline serve` with TLS: beside clear text, and SIGHUP takes a renewed certificate."""

import signal
from pathlib import Path

import httpx2
import pytest
import trio

from tests.edge.certificate import Certificate
from tests.support.process import free_port, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience


@pytest.mark.slow
async def test_a_renewed_certificate_is_taken_at_once(tmp_path: Path, database_url: str) -> None:
    certificate, address = Certificate(tmp_path), f"127.0.0.1:{free_port()}"
    async with server_process(
        database_url=database_url,
        tls_bind=address,
        tls_cert=str(certificate.certfile),
        tls_key=str(certificate.keyfile),
    ) as server:
        async with httpx2.AsyncClient(verify=certificate.trusting(), timeout=PATIENCE_SECONDS) as client:
            assert (await client.get(f"https://{address}/ready")).status_code == 200
        metrics = httpx2.get(f"{server.url}/metrics", timeout=PATIENCE_SECONDS).text
        assert "partyline_certificate_expires_seconds 1" in metrics
        Certificate(tmp_path)
        assert server.process is not None
        server.process.send_signal(signal.SIGHUP)
        with patience():
            while "a new certificate is in use" not in server.log:  # noqa: ASYNC110
                await trio.sleep(0.02)
        async with httpx2.AsyncClient(verify=certificate.trusting(), timeout=PATIENCE_SECONDS) as client:
            assert (await client.get(f"https://{address}/ready")).status_code == 200
        assert await server.stop() == 0
