"""What tests of hosted files share: releases whose bytes are put with the service."""

import hashlib
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from tests.support.world import World
from tests.versions.play import FILE, Publisher

OCTETS = {"content-type": "application/octet-stream"}
FEEDS = "/v1/public/versions/feeds/launcher/main"

DATA = Random(5).randbytes(700_000)


def a_file(data: bytes = DATA, **more: Any) -> dict[str, Any]:
    """An artifact without an address."""
    sha256 = hashlib.sha256(data).hexdigest()
    return {**FILE, "url": None, "sizeBytes": len(data), "sha256": sha256, **more}


def content_of(release: Any, number: int = 0) -> str:
    """The address under which an artifact's bytes are put."""
    return (
        f"/v1/versions/releases/{release['releaseId']}"
        f"/artifacts/{release['artifacts'][number]['artifactId']}/content"
    )


async def put(publisher: Publisher, release: Any, data: bytes = DATA, number: int = 0) -> httpx2.Response:
    """Put the bytes of an artifact."""
    path = content_of(release, number)
    return await publisher.player.ask("PUT", path, content=data, headers=OCTETS)


async def hosted(publisher: Publisher, version: str = "1.0.0", data: bytes = DATA, **more: Any) -> Any:
    """A release that the stable channel points to, whose one file lies here."""
    of_release = {name: more.pop(name) for name in ("notes", "rollout", "updatePolicy") if name in more}
    release = await publisher.release(version, artifacts=[a_file(data, **more)], **of_release)
    assert (await put(publisher, release, data)).status_code == 200
    await publisher.activate(release)
    return release


def files_of(world: World) -> list[Path]:
    """All files that are stored, whole or not."""
    return [path for path in (world.service.config.data_dir / "artifacts").rglob("*") if path.is_file()]
