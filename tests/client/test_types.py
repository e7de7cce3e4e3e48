"""The client's types, as somebody sees them who has installed it: mypy is strict about their program."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS

PROGRAM = """
from partyline.client import Partyline, Snapshot, blocking, types


async def read(url: str) -> None:
    async with Partyline(url) as it:
        reveal_type(await it.rest.post("/", {}, into=types.Conversation))
        reveal_type(await it.live.send("inbox", {}, into=types.Message))
        reveal_type(await it.live.send("inbox", {}))
        async for one in it.rest.items("/", into=types.Message):
            reveal_type(one.sender_id)
        async with it.live.subscribe("inbox") as shown:
            async for item in shown:
                if isinstance(item, Snapshot):
                    reveal_type(item.as_(types.InboxSnapshot))


def read_waiting(url: str) -> None:
    with blocking.Partyline(url) as it:
        reveal_type(it.rest.get("/", into=types.Party))
        reveal_type(it.live.send("inbox", {}, into=types.Message).content)
        for one in it.rest.items("/", {"limit": 5}, into=types.Article):
            reveal_type(one)
        with it.live.subscribe("inbox", most_unread=5) as shown:
            for item in shown:
                reveal_type(item.channel)
    it.rest.get("/", into=types.Party, retry="long")
"""

REVEALED = [
    "actors.chat.public.Conversation",
    "actors.chat.public.Message",
    "Any",
    "str",
    "actors.chat.public.InboxSnapshot",
    "actors.party.public.Party",
    "str",
    "actors.news.public.Article",
    "str",
]


@pytest.mark.slow
def test_who_has_installed_it_is_told_all_types(tmp_path: Path):
    """Installed are all packages as in a wheel: those without `py.typed` are nothing to mypy."""
    home = tmp_path / "user"
    venv.create(home / "venv", with_pip=False)
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    (packages / "installed.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    (home / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={tmp_path / 'cache'}",
            f"--python-executable={home / 'venv' / 'bin' / 'python'}", "program.py",
        ],
        cwd=home, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    revealed = [line.split('"')[1] for line in done.stdout.splitlines() if "Revealed type is" in line]
    mistakes = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert revealed == REVEALED
    last = f"program.py:{len(PROGRAM.splitlines())}:"
    assert mistakes and all(line.startswith(last) for line in mistakes), done.stdout
