"""Wire: what is released of one scope is apart from that of another, of the same name or the same type."""

from typing import Any

import pytest

from actors.versions import units_pointers, units_releases
from tests.support.world import World
from tests.versions.play import CHANNELS, FILE, RELEASES, Publisher, a_publisher, resolved

LAUNCHER = {"type": "launcher", "id": "main"}
OTHER_LAUNCHER = {"type": "launcher", "id": "other"}
EXTENSION = {"type": "extension", "id": "main"}
SCOPES = (LAUNCHER, OTHER_LAUNCHER, EXTENSION)


def query(scope: dict[str, str]) -> dict[str, str]:
    return {"scopeType": scope["type"], "scopeId": scope["id"]}


async def of_each(publisher: Publisher) -> dict[str, Any]:
    """{version: release}: the same version of each scope, and one of its own to which its channel points."""
    made = {}
    for minor, scope in enumerate(SCOPES, 1):
        await publisher.release("1.0.0", scope=scope)
        made[f"1.{minor}.0"] = release = await publisher.release(f"1.{minor}.0", scope=scope)
        await publisher.activate(release)
        publisher.world.advance(1)
    return made


async def test_each_scope_has_its_own_versions_and_channels(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units_releases, "RELEASES_OF_SCOPE_MAX", 2)
    publisher = await a_publisher(world)
    made = await of_each(publisher)
    for (version, release), scope in zip(made.items(), SCOPES, strict=True):
        answer = await resolved(world, **query(scope))
        assert (answer["targetVersion"], answer["release"]["releaseId"]) == (version, release["releaseId"])
        (pointer,) = (await publisher.player.get(CHANNELS, **query(scope)))["items"]
        assert (pointer["releaseId"], pointer["revision"]) == (release["releaseId"], 1)
    others = {**query(LAUNCHER), "channel": "stable", "releaseId": made["1.2.0"]["releaseId"]}
    assert await publisher.player.refused("POST", CHANNELS, others) == (404, "NOT_FOUND")
    body = {"scope": LAUNCHER, "version": "3.0.0", "artifacts": [FILE]}
    assert await publisher.player.refused("POST", RELEASES, body) == (422, "QUOTA_EXCEEDED")


async def test_lists_are_of_the_scope_and_state_that_is_asked_for(world: World) -> None:
    publisher = await a_publisher(world)
    await of_each(publisher)

    async def versions(**asked: str) -> list[str]:
        items = (await publisher.player.get(RELEASES, **asked))["items"]
        return [one["version"] for one in items]

    assert await versions() == ["1.3.0", "1.0.0", "1.2.0", "1.0.0", "1.1.0", "1.0.0"]
    assert await versions(scopeType="launcher") == ["1.2.0", "1.0.0", "1.1.0", "1.0.0"]
    assert await versions(scopeId="main") == ["1.3.0", "1.0.0", "1.1.0", "1.0.0"]
    assert await versions(**query(OTHER_LAUNCHER)) == ["1.2.0", "1.0.0"]
    assert await versions(status="published", scopeType="launcher") == ["1.2.0", "1.1.0"]
    assert await versions(status="draft", **query(EXTENSION)) == ["1.0.0"]
    reader = await world.player("Reader")
    await world.grant(reader, "versions:read")
    for asked, met in (
        ({"scopeType": "launcher"}, 2),
        ({"scopeId": "main"}, 2),
        ({"scopeType": "service"}, 0),
    ):
        assert len((await reader.get(CHANNELS, **asked))["items"]) == met


async def test_the_oldest_revisions_of_one_channel_are_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units_pointers, "HISTORY_KEPT", 2)
    publisher = await a_publisher(world)
    of_scope = [[await publisher.release(f"{n}.0.0", scope=scope) for n in (1, 2)] for scope in SCOPES]
    for first, _ in of_scope:
        await publisher.activate(first)
    await publisher.activate(of_scope[0][0], channel="beta")
    for release in (of_scope[0][1], of_scope[0][0], of_scope[0][1]):
        await publisher.activate(release)

    async def revisions(scope: dict[str, str], channel: str) -> list[int]:
        asked = {**query(scope), "channel": channel, "history": "true"}
        (pointer,) = (await publisher.player.get(CHANNELS, **asked))["items"]
        return [one["revision"] for one in pointer["history"]]

    assert await revisions(LAUNCHER, "stable") == [4, 3]
    assert await revisions(LAUNCHER, "beta") == [1]
    assert await revisions(OTHER_LAUNCHER, "stable") == [1]
    assert await revisions(EXTENSION, "stable") == [1]


async def test_nobody_is_led_back_from_a_version_of_another_scope(world: World) -> None:
    publisher = await a_publisher(world)
    for scope, version in ((OTHER_LAUNCHER, "1.5.0"), (EXTENSION, "1.6.0")):
        await publisher.activate(await publisher.release(version, scope=scope))
    await publisher.release("1.7.0")
    old, new = await publisher.release("1.0.0"), await publisher.release("2.0.0")
    for release in (new, old):
        await publisher.activate(release)
    led = {}
    for version in ("1.5.0", "1.6.0", "1.7.0", "2.0.0"):
        led[version] = (await resolved(world, version))["updateAvailable"]
    assert led == {"1.5.0": False, "1.6.0": False, "1.7.0": False, "2.0.0": True}
