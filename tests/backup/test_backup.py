"""A backup of a service that runs, restored into another folder and database: everything is there."""

import stat
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from persistence.backup.faults import BackupFault
from persistence.backup.writing import STORES, last_backup_seconds
from persistence.blobs import Blobs, kept_whole
from persistence.bridge.database import open_database
from persistence.embedded.errors import ClusterFaulty
from persistence.schema.migrate import MigrationChanged, migrate, read_applied, shipped
from routes.cli.backup import make_backup, restore_backup
from routes.cli.faults import CommandFault
from routes.config.config import Config, read_config
from routes.edge.identity.keys import open_keys
from tests.chat.play import a_file
from tests.support.database import run_sql, with_database
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import Player, World, open_world

PASSPHRASE = b"correct horse battery"


def config_of(database_url: str, folder: Path) -> Config:
    return read_config({"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_DATA_DIR": str(folder)})


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def empty_url(postgres_server: str) -> Iterator[str]:
    """The address of a database without tables."""
    run_sql(postgres_server, "CREATE DATABASE restored TEMPLATE template0")
    yield with_database(postgres_server, "restored")
    run_sql(postgres_server, "DROP DATABASE restored WITH (FORCE)")


def leave_strays(shared_dir: Path) -> None:
    """What a crash leaves in an installation, and what people put there."""
    for name in ("keys/.master.key.7.ab", "keys/Notes of mine.txt", "blobs/ab/abcd.part", "blobs/ab/stray"):
        path = shared_dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("stray")


async def _subscribed(player: Player, room: str, since: object = None) -> tuple[Any, Any]:
    """The answers to a subscription: the reply and the snapshot behind it."""
    async with player.live("/v1/social/live?channels=") as live:
        asked = {"id": 1, "op": "subscribe", "channel": f"conversation:{room.rpartition('/')[2]}"}
        await live.send_json({**asked, "params": {"mode": "delta"}, **({"since": since} if since else {})})
        return await live.receive_until(type="reply"), await live.receive_until(type="snapshot")


async def _written(world: World) -> tuple[Player, str, bytes]:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    file = a_file()
    uploaded = await ann.do("POST", f"{room.path}/attachments", file, status=201)
    await ann.say(room, "keep this", attachmentIds=[uploaded["id"]])
    return ann, room.path, b64decode(file["dataBase64"])


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE])
async def test_what_was_is_again(
    passphrase: bytes | None, database_url: str, empty_url: str, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    async with open_world(database_url, tmp_path / "data") as world:
        ann, room, data = await _written(world)
        leave_strays(tmp_path / "data")
        assert last_backup_seconds(tmp_path / "data") == 0
        said = list(await make_backup(backup, config_of(database_url, tmp_path / "data"), passphrase))
        assert len(said) == 1
        assert last_backup_seconds(tmp_path / "data") > 0
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        assert names_in(tmp_path) == {"backup", "data"}
        with pytest.raises(BackupFault, match="is there already"):
            await make_backup(backup, config_of(database_url, tmp_path / "data"), passphrase)
        clock = world.clock
        await ann.do("POST", f"{room}/messages", {"content": "lost"}, status=201)
        seen, _ = await _subscribed(ann, room)
    assert (b"keep this" not in backup.read_bytes()) or passphrase is None
    config = config_of(empty_url, tmp_path / "again")
    (restored,) = await restore_backup(backup, config, passphrase)
    assert str(tmp_path / "again") in restored
    async with open_world(empty_url, tmp_path / "again", clock=clock) as world:
        # The token of before: the keys are the same.
        again = Player(world, ann.id, ann.name, ann.token)
        (message,) = (await again.get(f"{room}/messages"))["items"]
        assert message["content"] == "keep this"
        (attachment,) = message["attachments"]
        response = await again.ask("GET", attachment["url"])
        assert response.content == data
        await again.do("POST", f"{room}/messages", {"content": "and more"}, status=201)
        # Whoever has seen what is lost is not told that "and more" stands at the offset where they are.
        since = {"epoch": seen["epoch"], "offset": seen["offset"]}
        reply, snapshot = await _subscribed(again, room, since)
        assert (reply["recovered"], reply["offset"]) == (False, seen["offset"])
        assert [text in str(snapshot) for text in ("keep this", "lost", "and more")] == [True, False, True]


async def test_a_restore_refuses_what_it_cannot_do(database_url: str, empty_url: str, tmp_path: Path) -> None:
    config = config_of(database_url, tmp_path / "data")
    with pytest.raises(CommandFault, match="there is no installation"):
        await make_backup(tmp_path / "backup", config, None)
    async with open_world(database_url, tmp_path / "data"):
        await make_backup(tmp_path / "backup", config, None)
        run_sql(database_url, "INSERT INTO schema_migrations (name, checksum) VALUES ('9999_later.sql', '')")
        await make_backup(tmp_path / "newer", config, None)
    with pytest.raises(MigrationChanged, match="9999_later"):
        await restore_backup(tmp_path / "newer", config_of(empty_url, tmp_path / "a"), None)
    with pytest.raises(CommandFault, match="is not empty"):
        await restore_backup(tmp_path / "backup", config, None)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "anything").touch()
    with pytest.raises(ClusterFaulty, match="is not empty"):
        await restore_backup(tmp_path / "backup", config_of(empty_url, tmp_path / "d"), None)
    used = config_of(database_url, tmp_path / "b")
    with pytest.raises(CommandFault, match="the database is not empty"):
        await restore_backup(tmp_path / "backup", used, None)
    # A folder that is half a restore is never served, nor restored into.
    for step in (make_backup(tmp_path / "c", used, None), restore_backup(tmp_path / "backup", used, None)):
        with pytest.raises((CommandFault, ClusterFaulty)):
            await step
    with pytest.raises(ClusterFaulty, match="did not finish"):
        async with open_world(database_url, tmp_path / "b"):
            pass
    assert not (tmp_path / "a").exists()


async def test_a_backup_of_the_version_before_is_not_brought_up_to_date(
    postgres_server: str, empty_url: str, tmp_path: Path
) -> None:
    """It is made before an upgrade, by whichever version is there, and must be of use to the old one."""
    run_sql(postgres_server, "CREATE DATABASE before TEMPLATE template0")
    url = with_database(postgres_server, "before")
    before = shipped()[:-1]
    async with open_database(url, timeout_seconds=PATIENCE_SECONDS) as database:
        await migrate(database, before)
        open_keys(tmp_path / "data")
        await make_backup(tmp_path / "backup", config_of(url, tmp_path / "data"), None)
        assert set(await database.read(read_applied)) == {migration.name for migration in before}
    run_sql(postgres_server, "DROP DATABASE before WITH (FORCE)")
    await restore_backup(tmp_path / "backup", config_of(empty_url, tmp_path / "again"), None)
    async with open_world(empty_url, tmp_path / "again") as world:
        await world.player("Ann")


async def test_spoiled_files_are_told(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path / "data") as world:
        _, _, data = await _written(world)
        (path,) = (tmp_path / "data" / "blobs").glob("??/*")
        path.write_bytes(bytes(len(data)))
        told, _ = await make_backup(tmp_path / "backup", config_of(database_url, tmp_path / "data"), None)
        assert told.startswith(f"damaged: {path.name} ")


def test_no_file_goes_while_a_backup_reads(tmp_path: Path) -> None:
    assert "blobs" in STORES
    blobs = Blobs(tmp_path / "blobs")
    digest = blobs.store(b"bytes")
    with kept_whole(tmp_path / "blobs"), kept_whole(tmp_path / "blobs"):
        assert blobs.drop([digest], before_seconds=1e12) == set()
    assert blobs.read(digest) == b"bytes"
    assert blobs.drop([digest], before_seconds=1e12) == {digest}
