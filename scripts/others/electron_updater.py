"""electron-updater reads a channel file, downloads the files that this lists, and decides who is in a roll-out."""

import hashlib
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import httpx2
import trio

from scripts.others import node
from scripts.others.node import expect
from scripts.others.service import answered, user
from tests.support.process import ServerProcess, server_process

VERSION = "6.8.10"

SCRIPT = Path(__file__).with_suffix(".js")

PERCENTAGE = 30

SIZE_BYTES = 3_000_000

NOTES = "What is new: # - { } 'quoted' & <b>, \ufffe \U0001f600\n* faster"

# The share of a user id that electron-updater compares with the percentage: its last four bytes, of 2**32.
USERS = {
    share: str(UUID(int=(0x4000_8000 << 64) | int(share * 0xFFFF_FFFF))) for share in (0.1, 0.29, 0.31, 0.9)
}

PLATFORMS = {"win32": ("windows", "Setup 1.1.0.exe"), "darwin": ("macos", "App-1.1.0-mac.zip")}


async def electron_updater() -> None:
    """The whole check, with a service of its own.

    Raises:
        NoNode: programs of Node cannot run here.
        Differs: electron-updater found something else than was published.
    """
    await trio.to_thread.run_sync(node.install, f"electron-updater@{VERSION}")
    async with server_process() as server:
        async with await user(server, "publisher", "super-admin") as client:
            await _publish(client, "1.0.0", 100)
            contents = await _publish(client, "1.1.0", PERCENTAGE)
        for platform, (_, name) in PLATFORMS.items():
            found = await trio.to_thread.run_sync(partial(_read, server, platform))
            _check(found, name, contents[name])


async def _publish(client: httpx2.AsyncClient, version: str, percentage: int) -> dict[str, bytes]:
    """Publish a release whose files lie with the service; returns {file name: content}."""
    contents = {
        name.replace("1.1.0", version): Random(name + version).randbytes(SIZE_BYTES)
        for _, name in PLATFORMS.values()
    }
    artifacts = [
        {
            "platform": platform,
            "arch": "x64",
            "kind": "full",
            "fileName": name.replace("1.1.0", version),
            "sizeBytes": SIZE_BYTES,
            "sha256": hashlib.sha256(contents[name.replace("1.1.0", version)]).hexdigest(),
        }
        for platform, name in PLATFORMS.values()
    ]
    scope = {"type": "launcher", "id": "interop"}
    body = {
        "scope": scope,
        "version": version,
        "notes": NOTES,
        "rollout": {"percentage": percentage},
        "artifacts": artifacts,
    }
    release = await answered(client.post("/v1/versions/releases", json=body))
    for artifact in release["artifacts"]:
        await answered(
            client.put(
                f"/v1/versions/releases/{release['releaseId']}/artifacts/{artifact['artifactId']}/content",
                content=contents[artifact["fileName"]],
                headers={"content-type": "application/octet-stream"},
            )
        )
    pointer = {"scopeType": scope["type"], "scopeId": scope["id"], "channel": "stable"}
    await answered(
        client.post("/v1/versions/channels/active", json=pointer | {"releaseId": release["releaseId"]})
    )
    return contents


def _read(server: ServerProcess, platform: str) -> Any:
    feed = f"{server.url}/v1/public/versions/feeds/launcher/interop"
    with TemporaryDirectory() as folder:
        found: Any = node.run(SCRIPT, feed, "latest", platform, folder, *USERS.values())
        found["contents"] = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return found


def _check(found: Any, name: str, content: bytes) -> None:
    info = found["info"]
    expect("version", info["version"], "1.1.0")
    expect("notes", info["releaseNotes"], NOTES)
    expect("percentage", info["stagingPercentage"], PERCENTAGE)
    expect("files", list(found["contents"]), [name])
    expect("content", found["contents"][name] == content, expected=True)
    expected = {id: share < PERCENTAGE / 100 for share, id in USERS.items()}
    expect("who is in the roll-out", found["matches"], expected)
