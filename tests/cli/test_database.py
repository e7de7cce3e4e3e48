"""A command whose database does not answer says what it waits for, and ends."""

import socket
from pathlib import Path

import pytest

from persistence.bridge.database import open_database
from persistence.embedded.data_dir import hold_data_dir
from persistence.errors import DatabaseUnavailable
from routes.cli import database
from routes.config.config import read_config


async def test_what_a_command_waits_for_is_said_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(database, "SAID_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(database, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(database, "SERVER_START_SECONDS", 0.1)
    data_dir = tmp_path / "data"
    with hold_data_dir(data_dir), pytest.raises(DatabaseUnavailable, match="does not answer"):
        async with database.reach(read_config({"PARTYLINE_DATA_DIR": str(data_dir)})):
            pass
    assert capsys.readouterr() == ("", f"waiting for the database of the server that holds {data_dir}\n")


async def test_a_frozen_database_is_said_not_to_answer() -> None:
    """The kernel takes its connections, and nobody says anything on them."""
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = f"postgresql://partyline@127.0.0.1:{frozen.getsockname()[1]}/none"
        with pytest.raises(DatabaseUnavailable, match="cannot connect to the database: it does not answer"):
            async with open_database(address, timeout_seconds=0.1):
                pass
