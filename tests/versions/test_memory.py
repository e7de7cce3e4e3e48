"""What a large file costs of the service's memory, on its way in and out."""

import hashlib
import os
import sys
from pathlib import Path

import httpx2
import trio

from tests.edge.raw import Raw, raw
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.versions.hosting_play import a_file, content_of
from tests.versions.play import DOWNLOAD, RELEASES, SCOPE

SIZE_BYTES = 64 * 1024 * 1024
PIECE = os.urandom(1024 * 1024)
MOST_BYTES = 8 * 1024 * 1024


def memory_bytes(server: ServerProcess, field: str) -> int:
    """A figure of `/proc/<pid>/status`: VmRSS, or VmHWM for the most that there ever was."""
    assert server.process is not None
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) * 1024


async def a_token(server: ServerProcess) -> str:
    """Of somebody who may publish."""
    done = await trio.run_process(
        [str(Path(sys.executable).parent / "partyline"), "token", "--name", "pia", "--role", "super-admin"],
        capture_stdout=True,
        env={"PARTYLINE_DATA_DIR": str(server.data_dir), "PARTYLINE_BIND": f"127.0.0.1:{server.port}"},
    )
    return str(done.stdout.decode().strip())


async def upload(client: Raw, token: str, path: str, count: int) -> None:
    length = count * len(PIECE)
    head = f"PUT {path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n"
    await client.send(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n")
    for _ in range(count):
        await client.send(PIECE)
    status, _, body = await client.read_response()
    assert status == 200, body


async def download(client: Raw, path: str) -> int:
    """How many bytes came."""
    await client.send(f"GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".encode())
    came = 0
    with patience():
        while data := await client.stream.receive_some(1024 * 1024):
            came += len(data)
    return came


async def test_a_large_file_costs_little_memory() -> None:
    count = SIZE_BYTES // len(PIECE)
    digest = hashlib.sha256()
    for _ in range(count):
        digest.update(PIECE)
    files = [
        a_file(PIECE) | {"fileName": "small.exe", "arch": "arm64"},
        a_file() | {"sizeBytes": SIZE_BYTES, "sha256": digest.hexdigest()},
    ]
    async with (
        server_process() as server,
        httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS) as http,
    ):
        token = await a_token(server)
        http.headers["authorization"] = f"Bearer {token}"
        release = (
            await http.post(RELEASES, json={"scope": SCOPE, "version": "1.0.0", "artifacts": files})
        ).json()
        async with raw(server.url) as client:  # what is made once, such as threads, is not of the upload
            await upload(client, token, content_of(release, 0), 1)
            before = memory_bytes(server, "VmRSS")
            await upload(client, token, content_of(release, 1), count)
        published = await http.patch(f"{RELEASES}/{release['releaseId']}", json={"status": "published"})
        assert published.status_code == 200, published.text
        async with raw(server.url) as client:
            path = f"{DOWNLOAD}?artifactId={release['artifacts'][1]['artifactId']}"
            assert await download(client, path) > SIZE_BYTES
        assert memory_bytes(server, "VmHWM") - before < MOST_BYTES
