"""A file that others never see in part, and that takes the name of none."""

from pathlib import Path

import pytest

from persistence.new_file import new_file


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with new_file(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_at_once_the_second_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(FileExistsError, match="is there already"), new_file(path) as second:
        second.write(b"two")
        with new_file(path) as first:
            first.write(b"one")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]
