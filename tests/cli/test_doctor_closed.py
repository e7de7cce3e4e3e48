"""`partyline doctor` by another user than the service's."""

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
