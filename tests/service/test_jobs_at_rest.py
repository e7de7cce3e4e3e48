"""A service with nothing to do: no job says that work is left, which has it run again at once, and behind for ever."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.edge.certificate import Certificate
from tests.ip.databases import write as write_geoip
from tests.support.jobs import jobs_of
from tests.support.world import World, open_world

CASES = {"nothing": (), "files": ("tls_bind", "tls_cert", "tls_key", "geoip_db")}
"""{what is configured beside the usual: its settings}"""


@pytest.fixture(params=CASES)
async def resting(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    certificate, places = Certificate(tmp_path), tmp_path / "geo.mmdb"
    write_geoip(places)
    known = {
        "tls_bind": "127.0.0.1:0",
        "tls_cert": str(certificate.certfile),
        "tls_key": str(certificate.keyfile),
        "geoip_db": str(places),
    }
    settings = {name: known[name] for name in CASES[request.param]}
    async with open_world(database_url, tmp_path / "data", **settings) as world:
        yield world


async def test_no_job_says_that_work_is_left(resting: World) -> None:
    left = [job.name for job in jobs_of(resting.service) for _ in range(2) if await job.run() is False]
    assert not left
