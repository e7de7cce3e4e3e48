"""`partyline doctor`: what it finds wrong, and what it does not."""

import resource
import socket

import pytest

from persistence.embedded.data_dir import hold_data_dir
from routes.cli.doctor import GEOIP_MAX_DAYS, examine
from routes.config.config import read_config
from routes.edge.identity.keys import open_keys
from routes.open_files import SPARE
from tests.edge.certificate import Certificate
from tests.ip.databases import write
from tests.support.disks import small_disk


async def test_the_doctor_finds_nothing_wrong(environ, database_url):
    findings = [
        finding
        async for finding in examine(
            read_config({"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_BIND": "127.0.0.1:0"})
        )
    ]
    assert [str(finding) for finding in findings if finding.ill] == []
    assert {"python", "data folder", "disk", "keys", "database", "migrations", "clock"} <= {
        finding.about for finding in findings
    }
    [backup] = [str(finding) for finding in findings if finding.about == "backup"]
    assert "run partyline backup FILE" in backup  # it wants one


async def test_the_doctor_sees_open_keys_and_a_dead_database(environ, tmp_path):
    open_keys(tmp_path)
    (tmp_path / "keys" / "master.key").chmod(0o644)
    config = read_config(
        {
            "PARTYLINE_DATA_DIR": str(tmp_path),
            "PARTYLINE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
            "PARTYLINE_BIND": "127.0.0.1:0",
        }
    )
    ill = {finding.about: str(finding) async for finding in examine(config) if finding.ill}
    assert ill.keys() == {"keys", "database"}
    assert "chmod go-rwx" in ill["keys"]


@pytest.mark.parametrize("small", ["data", "shared"])
async def test_the_doctor_looks_at_both_disks(environ, tmp_path, small):
    with small_disk(tmp_path / small):
        config = read_config(
            {
                "PARTYLINE_DATA_DIR": str(tmp_path / "data"),
                "PARTYLINE_SHARED_DIR": str(tmp_path / "shared"),
                "PARTYLINE_BIND": "127.0.0.1:0",
            }
        )
        found = [one async for one in examine(config)]
    assert [one.about for one in found if one.about.endswith("folder")] == ["data folder", "shared folder"]
    [full] = [one.says for one in found if one.about == "disk" and one.ill]
    assert full == f"0.0 GiB free for the {small} folder"


async def test_the_doctor_looks_at_the_archive_before_there_is_a_database(environ, tmp_path):
    (tmp_path / "file").touch()
    for name, is_ill in (("archive", False), ("file/archive", True)):
        config = read_config(
            {"PARTYLINE_DATA_DIR": str(tmp_path / "data"), "PARTYLINE_WAL_DIR": str(tmp_path / name)}
        )
        (found,) = [one async for one in examine(config) if one.about == "archive folder"]
        assert found.ill is is_ill


async def test_the_doctor_tells_a_taken_address_from_its_servers(environ, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        config = read_config({"PARTYLINE_DATA_DIR": str(tmp_path), "PARTYLINE_BIND": bind})

        async def is_ill():
            (found,) = [one async for one in examine(config) if one.about == f"address {bind}"]
            return found.ill

        assert await is_ill()  # nobody has ever served from this folder
        with hold_data_dir(tmp_path):
            assert not await is_ill()
        assert await is_ill()


async def test_the_doctor_counts_the_open_files_that_a_start_can_have(environ, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, 100_000) if hard != resource.RLIM_INFINITY else 100_000
    resource.setrlimit(resource.RLIMIT_NOFILE, (most - 1, hard))
    try:
        for spare, cure in ((SPARE, None), (SPARE - 1, f"ulimit -Hn {most + 1}")):
            wish = {"PARTYLINE_DATA_DIR": str(tmp_path), "PARTYLINE_MAX_CONNECTIONS": f"{most - spare}"}
            (found,) = [one async for one in examine(read_config(wish)) if one.about == "open files"]
            if hard == most or cure is None:
                assert (found.cure is None, found.ill) == (cure is None, False)
                assert (found.cure or "").startswith(cure or "")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_the_doctor_looks_at_the_certificate(environ, tmp_path, database_url):
    certificate = Certificate(tmp_path)
    settings = {
        "PARTYLINE_DATABASE_URL": database_url,
        "PARTYLINE_BIND": "127.0.0.1:0",
        "PARTYLINE_TLS_BIND": "127.0.0.1:0",
        "PARTYLINE_TLS_CERT": str(certificate.certfile),
        "PARTYLINE_TLS_KEY": str(certificate.keyfile),
    }

    async def found():
        findings = [one async for one in examine(read_config(settings)) if one.about == "certificate"]
        (finding,) = findings
        return finding

    soon = await found()
    assert (soon.says, soon.ill) == ("ends in 1 days", False)
    assert "renew it" in soon.cure
    certificate.keyfile.unlink()
    assert (await found()).ill


async def test_the_doctor_says_that_addresses_cannot_be_located_or_as_of_long_ago(
    environ, tmp_path, database_url, monkeypatch
):
    path = tmp_path / "geo.mmdb"
    settings = {"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_BIND": "127.0.0.1:0"}

    async def found(**more):
        return [one async for one in examine(read_config(settings | more)) if one.about == "GeoIP"]

    assert await found() == []
    configured = {"PARTYLINE_GEOIP_DB": str(path)}
    [gone] = await found(**configured)
    assert (gone.says, gone.ill) == (f"no address can be located: {path}: No such file or directory", False)
    assert "fetch-geoip" in gone.cure
    path.write_bytes(b"x" * 1000)
    [spoilt] = await found(**configured)
    assert spoilt.says.endswith("is no database of MaxMind's format") and spoilt.cure == gone.cure
    write(path)
    [fresh] = await found(**configured)
    assert (fresh.says, fresh.cure) == ("a database of 0 days ago", None)
    built = GEOIP_MAX_DAYS * 86_400 + 90_000
    monkeypatch.setattr("mmdb_writer.time.time", lambda: path.stat().st_mtime - built)
    write(path)
    monkeypatch.undo()
    [old] = await found(**configured)
    assert (old.says, old.ill) == (f"a database of {GEOIP_MAX_DAYS + 1} days ago", False)
    assert "a newer one" in old.cure


REFUSED = {
    "payments": {"PARTYLINE_SHOP_PROVIDER": "stripe"},
    "webhooks": {"PARTYLINE_SHOP_WEBHOOK_SECRET": "a,b,c,d,e,f"},
    "console": {"PARTYLINE_CONSOLE_SOURCE": "/nonexistent"},
    "address 127.0.0.1:9": {"PARTYLINE_BIND": "127.0.0.1:9,127.0.0.1:9"},
}
"""Settings that fit each for itself and with which no server starts, by what the finding is about."""


@pytest.mark.parametrize("about", REFUSED)
async def test_the_doctor_finds_the_settings_with_which_no_server_starts(environ, tmp_path, about):
    config = read_config({"PARTYLINE_DATA_DIR": str(tmp_path), **REFUSED[about]})
    assert about in [one.about async for one in examine(config) if one.ill]


@pytest.mark.parametrize("inside", ["", "below"])
async def test_the_doctor_says_that_the_data_folder_is_a_file(environ, tmp_path, inside):
    (tmp_path / "file").touch()
    config = read_config({"PARTYLINE_DATA_DIR": str(tmp_path / "file" / inside)})
    [folder] = [str(one) async for one in examine(config) if one.ill]
    assert f"{tmp_path / 'file'} is no folder" in folder
