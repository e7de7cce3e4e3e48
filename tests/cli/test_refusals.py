"""What keeps a command from running is told in one line, and ends it with a status of its own."""

import os
import socket

import pytest

from persistence.embedded.data_dir import node_name
from persistence.embedded.errors import ClusterFaulty
from routes.cli.main import main
from tests.cli.running import partyline
from tests.support.disks import fill, small_disk
from tests.support.privileges import without_privileges
from tests.support.process import reachable_directory


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["token", "--name", ""], "--name"),
        (["token", "--name", "a\nb"], "--name"),
        (["token", "--name", "Ann", "--id", "7"], "--id"),
        (["token", "--name", "Ann", "--ttl", "0"], "--ttl"),
        (["token", "--name", "Ann", "--ttl", str(10**12)], "--ttl"),
        (["export", "ann.zip", "--user", "7"], "--user"),
        (["backup", "b"], "there is no installation"),
        (["backup", "b", "--passphrase-file", "absent"], "absent"),
        (["backup", "b", "--passphrase-file", "short"], "shorter than 12"),
        (["backup", "b", "--passphrase-file", "empty"], "is empty"),
        (["restore", "absent"], "cannot be read"),
        (["restore", "short"], "not a backup"),
        (["upgrade-database"], "there is no database"),
    ],
)
def test_bad_wishes_are_one_line(environ, capsys, tmp_path, arguments, line):
    (tmp_path / "short").write_text("secret\n")
    (tmp_path / "empty").write_text("\n")
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("partyline: ")
    assert line in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["token"],
        ["token", "--name", "Ann", "--role", "user"],
        ["token", "--name", "Ann", "--role", "god"],
        ["token", "--name", "Ann", "--ttl", "long"],
        ["archive"],
        ["archive", "import"],
        ["catalog"],
        ["catalog", "import"],
        ["catalog", "remove"],
        ["catalog", "remove", "flags", "--game", "chess"],
        ["backup"],
        ["restore"],
        ["export", "ann.zip"],
    ],
)
def test_bad_arguments_are_2(environ, capsys, arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_setting_stops_every_command(environ, capsys):
    environ.setenv("PARTYLINE_BIMD", "x")
    assert main(["routes"]) == 1
    assert capsys.readouterr().err == (
        "partyline: PARTYLINE_BIMD: there is no such setting; did you mean PARTYLINE_BIND?\n"
    )


def test_a_database_that_does_not_answer_is_one_line(environ, capsys):
    environ.setenv("PARTYLINE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert main(["token", "--name", "Ann"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("doctor",), "{0} cannot be looked into\n        → run this as the user that the service runs as\n"),
        (
            ("backup", "/nowhere/at/all"),
            "{0}/keys cannot be looked into: run this as the user that the service ",
        ),
        (("nodes",), "{0}/lock cannot be opened: Permission denied{1}\n"),
        (("token", "--name", "Ann"), "{0}/lock cannot be opened: Permission denied{1}\n"),
    ],
)
def test_a_folder_that_is_somebody_elses_is_one_line(environ, capsys, command, said):
    with reachable_directory() as home:
        folder = home / "data"
        folder.mkdir(0o000)
        environ.setenv("PARTYLINE_DATA_DIR", str(folder))
        with without_privileges():
            assert main(command) == 1
        out, err = capsys.readouterr()
        whose = ": it belongs to root, and this runs as nobody" if os.geteuid() == 0 else ""
        assert said.format(folder, whose) in out + err


@pytest.mark.slow
def test_an_address_that_is_taken_is_one_line(clusters):
    with reachable_directory() as folder, socket.socket() as taken:
        clusters.lay_into(folder / "data")
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        served = partyline(
            folder / "data", "serve", PARTYLINE_BIND=f"127.0.0.1:{port}", PARTYLINE_LOG_LEVEL="error"
        )
        assert (served.returncode, served.stdout) == (1, "")
        assert served.stderr.startswith("partyline: ")
        assert str(port) in served.stderr
        assert served.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_data_folder_that_cannot_be_is_one_line():
    with reachable_directory() as folder:
        (folder / "file").touch()
        served = partyline(
            folder / "file", "serve", PARTYLINE_BIND="127.0.0.1:0", PARTYLINE_LOG_LEVEL="error"
        )
        assert served.returncode == 1
        assert served.stderr.startswith(f"partyline: the data folder {folder / 'file'} cannot be used")
        assert served.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("in_the_way", ["node", "blobs", "artifacts"])
def test_what_is_in_the_way_in_the_data_folder_is_one_line(in_the_way, clusters):
    with reachable_directory() as folder:
        path = folder / "data" / in_the_way
        clusters.lay_into(path.parent)
        path.mkdir() if in_the_way == "node" else path.touch()
        told = partyline(folder / "data", "serve", PARTYLINE_BIND="127.0.0.1:0", PARTYLINE_LOG_LEVEL="error")
        assert (told.returncode, told.stderr.count("\n")) == (1, 1)
        assert told.stderr.startswith(f"partyline: {path}")


@pytest.mark.parametrize("held", [b"", b"a b", b"\xff", b"x" * 65])
def test_a_file_that_holds_no_name_of_a_node_is_told(tmp_path, held):
    (tmp_path / "node").write_bytes(held)
    with pytest.raises(ClusterFaulty, match=r"/node does not hold the name of a node; remove it"):
        node_name(tmp_path)


@pytest.mark.slow
def test_a_disk_without_room_is_one_line():
    with reachable_directory() as folder, small_disk(folder / "disk") as disk:
        (disk / "data").mkdir()
        fill(disk / "ballast")
        told = partyline(disk / "data", "serve", PARTYLINE_BIND="127.0.0.1:0", PARTYLINE_LOG_LEVEL="error")
        assert (told.returncode, told.stderr.count("\n")) == (1, 1)
        assert "No space left on device" in told.stderr
