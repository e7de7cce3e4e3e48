"""Keys are closed to others at every start."""

import stat
from pathlib import Path

import pytest

from routes.edge.identity.key_files import close_to_others
from routes.edge.identity.keys import KeyFault, open_keys


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_keys_that_others_can_read_are_closed(tmp_path: Path) -> None:
    open_keys(tmp_path)
    folder = tmp_path / "keys"
    assert close_to_others(tmp_path) == []
    folder.chmod(0o755)
    (folder / "master.key").chmod(0o644)
    assert close_to_others(tmp_path) == [folder, folder / "master.key"]
    assert (stat.S_IMODE(folder.stat().st_mode), modes(folder)) == (0o700, {0o600})
    open_keys(tmp_path)


def test_before_the_first_start_there_is_nothing_to_close(tmp_path: Path) -> None:
    assert close_to_others(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs a file that nobody may change")
def test_keys_that_are_not_ours_to_close_are_refused(tmp_path: Path) -> None:
    """A link to a file whose rights cannot be changed, not even by root."""
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / "master.key").symlink_to("/proc/self/limits")
    with pytest.raises(KeyFault, match=r"master\.key can be read by others: chmod go-rwx"):
        close_to_others(tmp_path)


def test_a_signing_key_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    """It is made before the master key, so it was there; another one would end every token without a word."""
    open_keys(tmp_path)
    (tmp_path / "keys" / "signing.pem").unlink()
    with pytest.raises(KeyFault, match=r"signing\.pem is gone, and master\.key is there: put it back"):
        open_keys(tmp_path)
    assert not (tmp_path / "keys" / "signing.pem").exists()


def test_a_first_start_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    key_id = open_keys(tmp_path).key_id
    for name in ("releases.key", "master.key"):
        (tmp_path / "keys" / name).unlink()
    assert open_keys(tmp_path).key_id == key_id
