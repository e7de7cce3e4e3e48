"""A database that is reached over TLS alone: served, dumped and filled by what speaks it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import trio

from persistence.backup import programs
from persistence.backup.faults import BackupFault
from persistence.bridge.database import open_database
from persistence.embedded.postgres import choose_home, open_cluster
from persistence.errors import DatabaseUnavailable
from persistence.schema.migrate import migrate
from routes.cli.backup import make_backup, restore_backup
from routes.config.config import Config, read_config
from tests.edge.certificate import Certificate
from tests.support.database import DEBIAN_15, run_sql, start, stop, with_database
from tests.support.process import free_port
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import Player, open_world

PASSPHRASE = b"correct horse battery"

SECRET = "a secret: with / and @"

pytestmark = pytest.mark.skipif(not DEBIAN_15.exists(), reason=f"no PostgreSQL with TLS in {DEBIAN_15}")


@contextmanager
def serving_tls(certificate: Certificate) -> Iterator[str]:
    """A PostgreSQL that others reach with this certificate alone, with two empty databases: `first` and `second`.

    Yields:
        The address of its maintenance database, by name and password, whose certificate is verified.
    """
    folder = Path(tempfile.mkdtemp(prefix="partyline-tls-"))
    folder.chmod(0o755)
    home, account = choose_home(folder)
    port = free_port()
    options = {"listen_addresses": "127.0.0.1", "port": str(port), "ssl": "on"}
    for name, path in (("ssl_cert_file", certificate.certfile), ("ssl_key_file", certificate.keyfile)):
        copy = folder / name
        shutil.copy(path, copy)
        os.chown(copy, account.uid, account.gid)
        copy.chmod(0o600)
        options[name] = str(copy)
    cluster = open_cluster(home, account, DEBIAN_15, options)
    (cluster.data / "pg_hba.conf").write_text(
        "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
    )
    start(cluster)
    try:
        by_socket = cluster.dsn.replace("5432", str(port))
        run_sql(by_socket, f"CREATE ROLE friend SUPERUSER LOGIN PASSWORD '{SECRET}'")
        for name in ("first", "second"):
            run_sql(by_socket, f"CREATE DATABASE {name} TEMPLATE template0")
        secret, trusted = quote(SECRET, safe=""), quote(str(certificate.certfile))
        yield f"postgresql://friend:{secret}@127.0.0.1:{port}/postgres?sslmode=verify-full&sslrootcert={trusted}"
    finally:
        stop(cluster)
        shutil.rmtree(folder)


@pytest.mark.drill
def test_a_backup_and_its_restore_go_over_tls(tmp_path: Path) -> None:
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir()
    certificate, other = (Certificate(tmp_path / name) for name in ("right", "wrong"))
    with serving_tls(certificate) as url:
        trio.run(_drill, url, tmp_path)
        trio.run(_refused, url.replace(str(certificate.certfile), str(other.certfile)))
        trio.run(_refused, url.replace("verify-full", "disable"))


def config_of(database_url: str, folder: Path) -> Config:
    return read_config({"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_DATA_DIR": str(folder)})


async def _drill(url: str, folder: Path) -> None:
    first, second = with_database(url, "first"), with_database(url, "second")
    backup = folder / "backup"
    async with open_database(first, timeout_seconds=PATIENCE_SECONDS) as database:
        await migrate(database)
    async with open_world(first, folder / "data") as world:
        ann, ben = await world.players("Ann", "Ben")
        room = await ann.talk_to(ben)
        await ann.say(room, "over TLS")
        clock = world.clock
        await make_backup(backup, config_of(first, folder / "data"), PASSPHRASE)
    await restore_backup(backup, config_of(second, folder / "restored"), PASSPHRASE)
    async with open_world(second, folder / "restored", clock=clock) as world:
        page = await Player(world, ann.id, ann.name, ann.token).get(f"{room.path}/messages")
        assert [one["content"] for one in page["items"]] == ["over TLS"]


async def _refused(url: str) -> None:
    with pytest.raises(DatabaseUnavailable):
        async with open_database(url, timeout_seconds=PATIENCE_SECONDS):
            pass


def test_programs_without_tls_are_passed_over() -> None:
    found = programs.find_program("pg_restore", at_least=15, pg_bin=None, tls=True)
    assert found.path.parent == DEBIAN_15
    newer = programs.find_program("pg_dump", at_least=16, pg_bin=None)
    with pytest.raises(BackupFault, match="that speaks TLS was found"):
        programs.find_program("pg_dump", at_least=16, pg_bin=newer.path.parent, tls=True)


@pytest.mark.parametrize(
    ("query", "wants"),
    [
        ("", False),
        ("?sslmode=prefer", False),
        ("?sslmode=verify-full&sslrootcert=/ca", True),
        ("?sslmode=require", True),
    ],
)
def test_an_address_says_whether_it_wants_tls(query: str, wants: bool) -> None:
    assert programs.wants_tls(f"postgresql://partyline@db/partyline{query}") == wants
