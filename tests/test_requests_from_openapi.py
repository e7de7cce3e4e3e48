"""Requests made from our own OpenAPI document, well-formed and not: never a 5xx, never an undocumented answer.

They go to a real server in its own process. A conversation and a message that exist are put into half of the world:
with random ids alone nearly every request would end at the guard.
"""

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
import trio

from tests.ip.databases import write as write_geoip
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS
from tests.totems.models import body as totem_body

EXAMPLES = 12
"""Of each operation, beside those that cover each bound of the schema; about 2,000 requests in all."""

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


async def _token(server: ServerProcess, name: str, *options: str) -> str:
    folder = Path(sys.executable).parent
    made = await trio.run_process(
        [str(folder / "partyline"), "token", "--name", name, *options],
        capture_stdout=True,
        env={"PATH": "/usr/bin:/bin", "PARTYLINE_DATA_DIR": str(server.data_dir)},
    )
    return made.stdout.decode().strip()


async def _run(server: ServerProcess, token: str, config: Path) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(
        [
            str(Path(sys.executable).parent / "schemathesis"),
            f"--config-file={config}",
            "run",
            f"{server.url}/openapi.json",
            f"--header=Authorization: Bearer {token}",
            f"--checks={','.join(CHECKS)}",
            f"--max-examples={EXAMPLES}",
            "--generation-deterministic",
            # A path parameter takes any text without a slash: that half of what is made does not fit is no fault.
            "--suppress-health-check=filter_too_much",
            "--phases=examples,coverage,fuzzing",
            "--no-color",
        ],
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        cwd=config.parent,
    )


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["ids that exist", "any ids"])
async def test_no_request_ends_in_a_fault(tmp_path: Path, known: bool) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text("")
    # Without a GeoIP database lookups are a 503, as they should be, and as no other route may be.
    geoip_db = tmp_path / "geo.mmdb"
    write_geoip(geoip_db)
    async with server_process(geoip_db=str(geoip_db)) as server:
        token = await _token(server, "Ann", "--role", "super-admin")
        if known:
            config.write_text(await _existing(server, token))
        run = await _run(server, token, config)
        assert run.returncode == 0, (run.stdout + run.stderr).decode()
        assert "Traceback" not in server.log, server.log


async def _existing(server: ServerProcess, token: str) -> str:
    peer = str(uuid4())
    await _token(server, "Ben", "--id", peer)
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
        await client.post("/v1/connect/extensions", json={"extensionId": "shop", "name": "Shop"})
    return (
        "[parameters]\n"
        f'"path.conversationId" = "{conversation_id}"\n'
        f'"path.messageId" = "{said.json()["id"]}"\n'
        f'"path.userId" = "{peer}"\n'
        f'"path.serverId" = "{server_made.json()["serverId"]}"\n'
        '"path.extensionId" = "shop"\n'
        f'"path.itemModelId" = "{totem.json()["itemModelId"]}"\n'
    )
