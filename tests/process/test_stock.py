"""`PARTYLINE_EDGE=stock`: Hypercorn's own server, to compare ours with, at the addresses that are configured."""

from pathlib import Path

import httpx2
import pytest

from tests.edge.certificate import Certificate
from tests.support.process import free_port, server_process
from tests.support.waiting import PATIENCE_SECONDS


@pytest.mark.slow
async def test_it_answers_in_clear_text_and_over_tls(tmp_path: Path, database_url: str) -> None:
    certificate, covered = Certificate(tmp_path), f"127.0.0.1:{free_port()}"
    async with server_process(
        database_url=database_url,
        edge="stock",
        tls_bind=covered,
        tls_cert=str(certificate.certfile),
        tls_key=str(certificate.keyfile),
    ) as server:
        async with httpx2.AsyncClient(verify=certificate.trusting(), timeout=PATIENCE_SECONDS) as client:
            for address in (server.url, f"https://{covered}"):
                assert (await client.get(f"{address}/ready")).status_code == 200
        assert await server.stop() == 0


@pytest.mark.slow
async def test_it_answers_in_clear_text_alone(database_url: str) -> None:
    async with server_process(database_url=database_url, edge="stock") as server:
        assert await server.stop() == 0
