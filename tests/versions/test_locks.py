"""Publishers, clients and erasures that meet at a release wait for each other, and none of them is sent away."""

from functools import partial

import pytest

from actors.errors import NotFound
from actors.versions import units_pointers, units_releases
from actors.versions.units_pointers import activate
from actors.versions.units_releases import make_release
from persistence.connection import Connection
from persistence.users.audit import Stamp
from persistence.versions import releases as rows
from persistence.versions.releases import Release, Scope, lock_release
from routes.versions.jobs import write_counts
from tests.support.locks import crossed, during
from tests.support.world import World
from tests.versions.play import CHANNELS, RELEASES, SCOPE, TOLD, a_publisher

SCOPE_ROW = Scope("launcher", SCOPE["id"])


async def test_an_activation_and_a_change_of_the_active_release(world: World) -> None:
    pia = await a_publisher(world)
    active, next_one = await pia.published("1.0.0"), await pia.release("2.0.0")
    await crossed(
        world.service.database,
        lambda conn: rows.lock_scope(conn, SCOPE_ROW),
        partial(
            activate,
            scope=SCOPE_ROW,
            channel="stable",
            release_id=next_one["releaseId"],
            expected_revision=1,
            stamp=Stamp("f" * 24, 1, pia.player.id, None),
        ),
        partial(pia.changed, active, notes="changed"),
    )


async def test_a_deletion_and_the_counts_of_what_clients_say(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(status="published")
    said = {"event": "check", "releaseId": release["releaseId"], "platform": "linux"}

    async def say_and_write(*events: str) -> None:
        for event in events:
            await world.nobody().do("POST", TOLD, said | {"event": event}, status=202)
        await write_counts(world.service)

    async def hold_for_deletion(conn: Connection) -> None:
        await conn.execute("SELECT FROM releases WHERE id = $1 FOR UPDATE", release["releaseId"])

    await say_and_write("check")
    delete = partial(rows.delete_release, id=release["releaseId"])
    await crossed(
        world.service.database, hold_for_deletion, delete, partial(say_and_write, "check", "download")
    )


@pytest.mark.parametrize("what", ["a new release", "an activation"])
async def test_the_erasure_of_a_publisher(world: World, what: str) -> None:
    pia = await a_publisher(world)
    release = await pia.release()
    body = {"scope": SCOPE, "version": "2.0.0"}
    pointer = {
        "scopeType": SCOPE["type"], "scopeId": SCOPE["id"], "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip

    async def hold(conn: Connection) -> None:
        await conn.execute("SELECT FROM users WHERE id = $1 FOR UPDATE", pia.player.id)

    path, wanted = (RELEASES, body) if what == "a new release" else (CHANNELS, pointer)
    await crossed(
        world.service.database,
        hold,
        partial(lock_release, id=release["releaseId"]),
        partial(pia.player.do, "POST", path, wanted, status=201),
    )


async def test_a_publisher_who_is_erased_meanwhile(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release()
    stamp = Stamp("f" * 24, 1, "0" * 8 + "-0000-4000-8000-" + "0" * 12, None)
    unit = partial(
        activate, scope=SCOPE_ROW, channel="stable", release_id=release["releaseId"], expected_revision=None,
        stamp=stamp,
    )  # fmt: skip
    with pytest.raises(NotFound, match="user"):
        await world.service.database.transact(unit)


OTHER = {"type": "extension", "id": "other"}
"""A scope that takes no turns with the first one."""


async def test_the_last_place_of_all_channels_goes_to_one_scope(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units_pointers, "POINTERS_MAX", 1)
    pia = await a_publisher(world)
    one, other = await pia.release(), await pia.release(scope=OTHER)
    first = partial(
        activate, scope=SCOPE_ROW, channel="stable", release_id=one["releaseId"], expected_revision=None,
        stamp=Stamp("f" * 24, 1, None, None),
    )  # fmt: skip
    body = {
        "scopeType": OTHER["type"],
        "scopeId": OTHER["id"],
        "channel": "beta",
        "releaseId": other["releaseId"],
    }

    async def second() -> None:
        assert await pia.player.refused("POST", CHANNELS, body) == (422, "QUOTA_EXCEEDED")

    await during(world.service.database, first, second)


async def test_the_last_place_of_all_releases_goes_to_one_scope(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units_releases, "RELEASES_MAX", 1)
    pia = await a_publisher(world)
    made = Release(
        id="a" * 24, scope=SCOPE_ROW, version="1.0.0", update_policy="optional", min_version=None, notes="",
        status="draft", percentage=100, salt="0" * 32, created_by=None, created_at_ms=1, published_at_ms=None,
    )  # fmt: skip
    first = partial(make_release, release=made, stamp=Stamp("f" * 24, 1, None, None))

    async def second() -> None:
        body = {"scope": OTHER, "version": "1.0.0"}
        assert await pia.player.refused("POST", RELEASES, body) == (422, "QUOTA_EXCEEDED")

    await during(world.service.database, first, second)
