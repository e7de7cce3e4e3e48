"""`partyline doctor` by another user than the service's, and where the database is another user's."""

import os

import pytest

from persistence.embedded.account import account_for, name_of
from routes.cli.main import main
from routes.edge.identity.keys import open_keys
from tests.support.privileges import without_privileges
from tests.support.process import reachable_directory


def test_the_doctor_names_the_keys_that_are_somebody_elses(environ, capsys):
    with reachable_directory() as home:
        open_keys(home)
        (home / "keys").chmod(0o000)
        environ.setenv("PARTYLINE_DATA_DIR", str(home))
        with without_privileges():
            assert main(("doctor",)) == 1
        out, err = capsys.readouterr()
    assert f"WRONG   data folder: {home}/keys cannot be looked into\n" in out
    assert err == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders of several users")
def test_the_doctor_says_to_whom_a_copied_database_has_to_be_given(environ, capsys):
    with reachable_directory() as home:
        cluster = home / "postgres" / "data"
        cluster.mkdir(parents=True)
        (cluster / "PG_VERSION").write_text("18\n")
        environ.setenv("PARTYLINE_DATA_DIR", str(home))
        assert main(("doctor",)) == 1
        out, _ = capsys.readouterr()
        user = name_of(account_for(cluster).uid)
    says = f"{cluster} belongs to root, and PostgreSQL runs as {user} here"
    assert f"WRONG   database: {says}\n        → chown -R {user} {home}/postgres\n" in out
