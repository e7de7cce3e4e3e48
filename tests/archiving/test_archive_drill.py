"""The drill: people write, the data folder is lost, and the archive is restored to a moment and to its end."""

import secrets
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
import trio

from routes.edge.identity.keys import open_keys
from tests.support.process import ServerProcess, reachable_directory, server_process
from tests.support.waiting import PATIENCE_SECONDS
from tests.users.parts import ANN, BEN

CHAT = "/v1/social/chat/conversations"
FILE = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": "aGVsbG8="}


def _client(server: ServerProcess, user_id: str, name: str) -> httpx2.AsyncClient:
    minted = open_keys(server.data_dir).mint_user_token(
        user_id, name, now_ms=time.time_ns() // 1_000_000, ttl_seconds=3600, random_bytes=secrets.token_bytes
    )
    headers = {"authorization": f"Bearer {minted.token}"}
    return httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS)


async def _said(client: httpx2.AsyncClient, messages: str) -> list[str]:
    return [one["content"] for one in (await client.get(messages)).json()["items"]]


async def _run(server: ServerProcess, archive: Path, *arguments: str, complains: bool = False) -> str:
    """What a command prints that knows the archive."""
    done = await trio.run_process(
        [str(server.program), *arguments],
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PARTYLINE_DATA_DIR": str(server.data_dir),
            "PARTYLINE_WAL_DIR": str(archive),
        },
    )
    assert complains or done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.drill
async def test_any_moment_after_a_base_can_be_restored() -> None:
    with reachable_directory() as place:
        archive = place / "archive"
        async with server_process(wal_dir=str(archive)) as server:
            async with _client(server, BEN, "Ben") as client:
                assert (await client.get("/v1/auth/verify")).status_code == 200
            async with _client(server, ANN, "Ann") as client:
                opened = await client.post(CHAT, json={"kind": "direct", "participantIds": [BEN]})
                room = f"{CHAT}/{opened.json()['id']}"
                messages = f"{room}/messages"
                await client.post(messages, json={"content": "before the base"})
                attached = (await client.post(f"{room}/attachments", json=FILE)).json()["id"]
                body = {"content": "with a file", "attachmentIds": [attached]}
                assert (await client.post(messages, json=body)).status_code == 201
                assert "1 new files" in await _run(server, archive, "base-backup")
                assert "1 base backups" in await _run(server, archive, "doctor", complains=True)
                await client.post(messages, json={"content": "after the base"})
                moment = datetime.now(UTC)
                await client.post(messages, json={"content": "a mistake"})
            assert await server.stop() == 0  # its end closes the last segment, as a minute would
            await trio.to_thread.run_sync(shutil.rmtree, server.data_dir)
            said = await _run(server, archive, "restore", str(archive), "--until", moment.isoformat())
            assert said.startswith(f"restored into {server.data_dir}, as it was at {moment.year}")
            earlier = await _kept(server, messages, f"{room}/attachments/{attached}")
            await trio.to_thread.run_sync(shutil.rmtree, server.data_dir)
            await _run(server, archive, "restore", str(archive))
            later = await _kept(server, messages, f"{room}/attachments/{attached}")
    assert earlier == ["before the base", "with a file", "after the base", "once more"]
    assert later == [*earlier, "once more"]  # the history that was gone on with, not the one that was left


async def _kept(server: ServerProcess, messages: str, attachment: str) -> list[str]:
    """What a restored server shows, once somebody has written into it."""
    await server.start()
    async with _client(server, ANN, "Ann") as client:
        assert (await client.get(attachment)).content == b"hello"
        assert (await client.post(messages, json={"content": "once more"})).status_code == 201
        found = await _said(client, messages)
    assert await server.stop() == 0
    return found
