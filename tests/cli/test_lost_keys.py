"""Keys that are gone, or others than before: a start that would end all tokens and lose all secrets is refused."""

import pytest

from persistence.blobs import Blobs
from routes.cli.doctor import examine
from routes.cli.main import main
from routes.config.config import read_config
from routes.edge.identity.keys import open_keys
from tests.support.database import run_sql
from tests.support.process import server_process

TOKEN = ["token", "--name", "Ann"]


@pytest.fixture
def shared(environ, database_url, tmp_path):
    """The shared folder of an installation whose database has been used with its keys."""
    environ.setenv("PARTYLINE_DATABASE_URL", database_url)
    environ.setenv("PARTYLINE_SHARED_DIR", str(tmp_path / "shared"))
    assert main(TOKEN) == 0
    return tmp_path / "shared"


def refused(capsys) -> str:
    """The one line with which a command is refused that needs the keys."""
    capsys.readouterr()
    assert main(TOKEN) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_keys_that_are_gone_are_not_made_anew(shared, capsys):
    (shared / "keys").rename(shared / "aside")
    assert "has no master key, and the database was used with one: mount the folder" in refused(capsys)
    assert not (shared / "keys").exists()
    (shared / "aside").rename(shared / "keys")
    assert main(TOKEN) == 0


def test_a_lost_master_key_alone_is_not_made_anew(shared, capsys):
    (shared / "keys" / "master.key").unlink()
    assert "has no master key" in refused(capsys)
    assert not (shared / "keys" / "master.key").exists()


def test_the_keys_of_another_installation_are_refused(shared, tmp_path, capsys):
    (shared / "keys").rename(shared / "aside")
    open_keys(shared)
    assert "has other keys than the database is used with" in refused(capsys)


def test_other_keys_are_taken_by_who_wants_them(shared, capsys):
    (shared / "keys").rename(shared / "aside")
    refused(capsys)
    assert main(["accept-keys"]) == 0
    assert "webhooks of Discord" in capsys.readouterr().out
    assert main(TOKEN) == 0
    capsys.readouterr()
    assert main(["accept-keys"]) == 0
    assert capsys.readouterr().out.endswith("already\n")


def test_a_folder_of_before_goes_on_and_its_keys_are_known_from_then_on(shared, database_url, capsys):
    run_sql(database_url, "DELETE FROM master_key")
    assert main(TOKEN) == 0
    (shared / "keys").rename(shared / "aside")
    open_keys(shared)
    assert "has other keys" in refused(capsys)


def test_a_database_of_before_that_was_served_gets_no_new_keys(shared, database_url, capsys):
    run_sql(database_url, "DELETE FROM master_key; INSERT INTO leases VALUES (0, 'n', 1)")
    (shared / "keys").rename(shared / "aside")
    assert "has no master key" in refused(capsys)


def test_a_signing_key_that_was_replaced_on_purpose_is_taken(shared, tmp_path):
    open_keys(tmp_path / "other")
    (tmp_path / "other" / "keys" / "signing.pem").rename(shared / "keys" / "signing.pem")
    assert main(TOKEN) == 0


def test_a_new_database_does_not_sweep_the_files_of_another(environ, database_url, tmp_path, capsys):
    environ.setenv("PARTYLINE_DATABASE_URL", database_url)
    environ.setenv("PARTYLINE_SHARED_DIR", str(tmp_path))
    open_keys(tmp_path)
    Blobs(tmp_path / "blobs").store(b"an attachment")
    assert "the database is new: they would be removed" in refused(capsys)
    assert main(["accept-keys"]) == 0
    assert main(TOKEN) == 0


async def test_the_doctor_says_that_the_keys_are_not_those_of_the_database(environ, database_url, tmp_path):
    environ.setenv("PARTYLINE_BIND", "127.0.0.1:0")
    given = {"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_SHARED_DIR": str(tmp_path)}
    run_sql(database_url, "INSERT INTO master_key VALUES (true, 'another')")

    async def found() -> list[str]:
        return [one.says for one in [one async for one in examine(read_config(given))] if one.about == "keys"]

    assert "gone, and the database was used with some" in await found()
    assert not (tmp_path / "keys").exists()
    open_keys(tmp_path)
    assert "others than the database is used with" in await found()


async def test_a_server_does_not_start_without_the_keys_that_it_had():
    async with server_process() as server:
        with pytest.raises(AssertionError, match="the service runs"):
            await server.command("accept-keys")
        assert await server.stop() == 0
        keys = server.data_dir / "keys"
        keys.rename(server.data_dir / "aside")
        with pytest.raises(AssertionError, match="has no master key, and the database was used with one"):
            await server.start()
        assert not keys.exists()
        assert "from now on" in await server.command("accept-keys")
        await server.start()
        assert await server.stop() == 0
