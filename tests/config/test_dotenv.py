"""The file `.env`: what lies in it, and one clear line for what cannot be read."""

import json
import re
from pathlib import Path

import pytest

from routes.config.config import ConfigError, read_config
from routes.config.environment import dotenv, process_environment
from tests.contract.sources import ROOT
from tests.support.privileges import without_privileges
from tests.support.process import reachable_directory


def test_dotenv_lies_below_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text(
        "# a comment\n\nexport PARTYLINE_LOG=json\nPARTYLINE_EDGE='stock'\nOTHER=1\n", "utf-8"
    )
    monkeypatch.setenv("PARTYLINE_EDGE", "lean")
    environ = process_environment(tmp_path)
    assert (environ["PARTYLINE_LOG"], environ["PARTYLINE_EDGE"]) == ("json", "lean")
    assert "OTHER" not in environ


def test_dotenv_where_one_may_not_look_is_none() -> None:
    with reachable_directory() as folder:
        (folder / ".env").write_text("PARTYLINE_LOG=json\n")
        folder.chmod(0o000)
        try:
            with without_privileges():
                assert "PARTYLINE_LOG" not in process_environment(folder)
        finally:
            folder.chmod(0o700)


def test_dotenv_that_is_somebody_elses_is_one_line() -> None:
    with reachable_directory() as folder:
        (folder / ".env").touch(0o000)
        with (
            without_privileges(),
            pytest.raises(ConfigError, match=r"/\.env cannot be read: Permission denied$"),
        ):
            process_environment(folder)


def test_dotenv_of_another_encoding_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("PARTYLINE_LOG=ü".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"/\.env is not text in UTF-8$"):
        process_environment(tmp_path)


def test_dotenv_may_begin_with_the_mark_of_its_form(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfPARTYLINE_LOG=json\r\n")
    assert process_environment(tmp_path)["PARTYLINE_LOG"] == "json"


def test_dotenv_line_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"^\.env, line 2: not NAME=value$"):
        list(dotenv("A=1\nnonsense\n"))


FOLDED = """A='[{"iss": "x",
      "alg": "RS256"}]'
B="it's"
C='x' # not one
D=it's
"""


def test_dotenv_value_in_quotes_goes_on_over_lines() -> None:
    read = dict(dotenv(FOLDED))
    assert json.loads(read["A"]) == [{"iss": "x", "alg": "RS256"}]
    assert (read["B"], read["C"], read["D"]) == ("it's", "'x' # not one", "it's")


def test_dotenv_quote_that_nothing_closes_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^\.env, line 2: no line ends with the ' that begins the value$"):
        list(dotenv("A=1\nB='[{\nC=2\n"))


@pytest.mark.parametrize("paper", ["settings.md", "sign-in.md", "proxies.md"])
def test_settings_in_the_papers_may_be_put_into_dotenv_as_they_stand(paper: str) -> None:
    text = (ROOT / "docs" / paper).read_text("utf-8")
    blocks = re.findall(r"^```\n(PARTYLINE_[^`]*)^```$", text, re.MULTILINE)
    assert blocks
    for block in blocks:
        assert read_config(dict(dotenv(block)))
