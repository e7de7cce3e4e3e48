"""Requests made from our own OpenAPI document, well-formed and not, alone and in a row: never a 5xx, never an
undocumented answer. Every run makes some for each operation; with `--long` they are 20,000, and reach every bound.

They go to real servers in their own processes. Each is sent twice, the second time with ids of what exists in its
address (`sent_twice.py`): with random ids nearly every request would end at the guard.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
import trio

from scripts.upstreams.curseforge import KEY, CurseForgeSite
from scripts.upstreams.modrinth import ModrinthSite
from tests.contract.sources import ROOT
from tests.ip.databases import write as write_geoip
from tests.mods.play import sites
from tests.support.depth import LONG
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS
from tests.totems.models import body as totem_body

HOOKS = Path(__file__).with_name("sent_twice.py")

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@dataclass(frozen=True)
class Part:
    """A share of the requests, for one process of the test run.

    Args:
        least: requests that it has to make.
        options: for schemathesis.
        runs: further options of one run each, until there are enough requests: how many there are in a row depends on
            what is answered.
    """

    least: int
    options: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...] = ((),)


_EACH = ("--phases=coverage,fuzzing", "--max-examples=2", "--generation-deterministic")
"""Each operation alone: every bound of its schema, and examples beside."""

_IN_A_ROW = ("--phases=stateful", "--max-examples=200")
"""Operations in a row, where one takes what another has answered: made, read, changed and removed."""


def _seeds(*seeds: int) -> tuple[tuple[str, ...], ...]:
    return tuple((f"--seed={seed}",) for seed in seeds)


USUAL = {
    "each": Part(600, ("--phases=fuzzing", "--max-examples=1", "--generation-deterministic")),
    "in a row": Part(400, ("--phases=stateful", "--max-examples=40"), runs=_seeds(1, 2, 3)),
}

ALL = {
    "connect": Part(4_800, (*_EACH, "--include-path-regex=^/v1/connect")),
    "social": Part(5_200, (*_EACH, "--include-path-regex=^/v1/social")),
    "the rest": Part(9_000, (*_EACH, "--exclude-path-regex=^/v1/(connect|social)")),
    "in a row, 1": Part(2_500, _IN_A_ROW, runs=_seeds(1, 3, 5, 7)),
    "in a row, 2": Part(2_500, _IN_A_ROW, runs=_seeds(2, 4, 6, 8)),
}

PARTS = ALL if LONG else USUAL


async def _run(
    server: ServerProcess, token: str, folder: Path, options: tuple[str, ...], environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(
        [
            str(Path(sys.executable).parent / "schemathesis"),
            f"--config-file={folder / 'schemathesis.toml'}",
            "run",
            f"{server.url}/openapi.json",
            f"--header=Authorization: Bearer {token}",
            f"--checks={','.join(CHECKS)}",
            *options,
            # A path parameter takes any text without a slash: that half of what is made does not fit is no fault.
            # Neither is a machine on which making it takes long.
            "--suppress-health-check=all",
            f"--request-timeout={PATIENCE_SECONDS}",
            "--warnings=off",
            "--no-color",
            f"--report-json-path={folder / 'report.json'}",
        ],
        env={
            # All that it reads at each request, to see whether there is a proxy.
            "PATH": os.environ["PATH"],
            # What it knows of Unicode takes seconds to make, and is kept beside what the other tests know.
            "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
            **environment,
        },
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
async def test_no_request_ends_in_a_fault(tmp_path: Path, name: str) -> None:
    part = PARTS[name]
    # Without a GeoIP database and catalogues of mods it is a 503, as it should be, and as no other route may be.
    geoip_db = tmp_path / "geo.mmdb"
    write_geoip(geoip_db)
    modrinth, curseforge = ModrinthSite(), CurseForgeSite()
    async with (
        sites(modrinth, curseforge),
        server_process(
            geoip_db=str(geoip_db),
            modrinth_url=modrinth.api_url,
            curseforge_url=curseforge.api_url,
            curseforge_key=KEY,
        ) as server,
    ):
        token = await server.token("Ann", "--role", "super-admin")
        log, config = tmp_path / "again", tmp_path / "schemathesis.toml"
        log.touch()
        config.write_text(f'hooks = "{HOOKS}"\n')
        environment = {
            "SENT_TWICE_IDS": json.dumps(await _existing(server, token)),
            "SENT_TWICE_LOG": str(log),
        }
        made = 0

        for more in part.runs:
            run = await _run(server, token, tmp_path, (*part.options, *more), environment)
            assert run.returncode == 0, (run.stdout + run.stderr).decode()
            made += json.loads((tmp_path / "report.json").read_text())["test_cases"]["generated"]
            if made + log.stat().st_size >= part.least:
                break
        assert "Traceback" not in server.log, server.log
    assert made + log.stat().st_size >= part.least


def test_there_are_twenty_thousand_of_them() -> None:
    assert sum(part.least for part in ALL.values()) >= 20_000


async def _existing(server: ServerProcess, token: str) -> dict[str, str]:
    peer = str(uuid4())
    await server.token("Ben", "--id", peer)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        made = await client.post(
            "/v1/social/chat/conversations", json={"kind": "group", "participantIds": [peer]}
        )
        conversation_id = made.json()["id"]
        said = await client.post(
            f"/v1/social/chat/conversations/{conversation_id}/messages",
            json={"poll": {"question": "When?", "options": [{"label": "now"}, {"label": "later"}]}},
        )
        totem = await client.post("/v1/profile/personal-totem", json=totem_body())
        server_made = await client.post(
            "/v1/connect/servers/register", json={"serverType": "paper", "serverName": "Lobby"}
        )
        await client.post("/v1/connect/servers/claim", json={"claimKey": server_made.json()["claimKey"]})
        poll = {"question": "When?", "options": [{"label": "now"}, {"label": "later"}]}
        article = {
            "scope": {"type": "global"},
            "title": "t",
            "body": "b",
            "status": "published",
            "poll": poll,
        }
        news = await client.post("/v1/news", json=article)
        await client.post("/v1/connect/extensions", json={"extensionId": "shop", "name": "Shop"})
    return {
        "conversationId": conversation_id,
        "messageId": said.json()["id"],
        "userId": peer,
        "serverId": server_made.json()["serverId"],
        "extensionId": "shop",
        "newsId": news.json()["id"],
        "itemModelId": totem.json()["itemModelId"],
    }
