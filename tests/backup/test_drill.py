"""The drill: a backup while people write, the data folder is lost, and the backup is restored with the command line."""

import secrets
import shutil
import time

import httpx2
import pytest
import trio

from routes.edge.identity.keys import open_keys
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.users.parts import ANN, BEN

CHAT = "/v1/social/chat/conversations"

BEFORE = 20
"""Messages that are acknowledged before the backup begins."""

PACE_SECONDS = 0.05
"""Between two messages: enough of them during a backup, and not all that a machine can take."""


@pytest.mark.drill
async def test_nothing_acknowledged_before_a_backup_is_missing_after_its_restore() -> None:
    async with server_process() as server:
        backup = str(server.folder / "backup")
        sealed = ("--passphrase-file", "-")
        token, other = _token(server, ANN, "Ann"), _token(server, BEN, "Ben")
        async with _client(server, other) as client:
            assert (await client.get("/v1/auth/verify")).status_code == 200
        async with _client(server, token) as client, trio.open_nursery() as nursery:
            opened = await client.post(CHAT, json={"kind": "direct", "participantIds": [BEN]})
            messages = f"{CHAT}/{opened.json()['id']}/messages"
            acknowledged: list[str] = []
            nursery.start_soon(_write, client, messages, acknowledged)
            await wait_until(lambda: _many(acknowledged, BEFORE))
            before = len(acknowledged)
            said = await server.command("backup", backup, *sealed, stdin="correct horse battery\n")
            assert said.startswith(f"{backup}: ")
            at_the_end = len(acknowledged)
            nursery.cancel_scope.cancel()
        await server.kill()
        await trio.to_thread.run_sync(shutil.rmtree, server.data_dir)
        await server.command("restore", backup, *sealed, stdin="correct horse battery\n")
        await server.start()
        async with _client(server, token) as client:
            contents = await _all(client, messages)
            assert (await client.post(messages, json={"content": "after"})).status_code == 201
        assert contents == [str(number) for number in range(len(contents))]
        assert before <= len(contents) <= at_the_end + 1
    print(f"{before} messages acknowledged before the backup, {len(contents)} restored: none missing")


def _token(server: ServerProcess, user_id: str, name: str) -> str:
    """A token as `partyline token` makes it, without a process of its own."""
    minted = open_keys(server.data_dir).mint_user_token(
        user_id, name, now_ms=time.time_ns() // 1_000_000, ttl_seconds=3600, random_bytes=secrets.token_bytes
    )
    return minted.token


def _client(server: ServerProcess, token: str) -> httpx2.AsyncClient:
    headers = {"authorization": f"Bearer {token}"}
    return httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS)


async def _many(found: list[str], wanted: int) -> bool:
    return len(found) >= wanted


async def _write(client: httpx2.AsyncClient, messages: str, acknowledged: list[str]) -> None:
    while True:
        content = str(len(acknowledged))
        response = await client.post(messages, json={"content": content, "clientMessageId": f"n-{content}"})
        assert response.status_code == 201, response.text
        acknowledged.append(content)
        await trio.sleep(PACE_SECONDS)


async def _all(client: httpx2.AsyncClient, messages: str) -> list[str]:
    """The contents of all messages, oldest first."""
    found: list[str] = []
    before_ms = 1 << 50
    while before_ms:
        page = (await client.get(messages, params={"limit": 100, "beforeMs": before_ms})).json()
        found = [item["content"] for item in page["items"]] + found
        before_ms = page["nextBeforeMs"]
    return found
