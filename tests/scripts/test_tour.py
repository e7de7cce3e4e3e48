"""The tour of the README, run as it is written against a real server."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import trio

from tests.contract.sources import ROOT
from tests.support.process import server_process
from tests.support.waiting import patience

LINE = "http://127.0.0.1:8080"
MARK = "[next]"
AGENT = "scripts/agent"
PROGRAMS = {AGENT: "scripts.game_server", "scripts/voice": "scripts.voice_node"}
"""{command: what it runs, once it has made the environment}."""
CLEAN_UP = (
    """trap "trap '' TERM; kill 0" EXIT\n"""  # also where it fails half-way, with a listener or an agent left
)


VARYING = (
    (r"(?<=[^\n]{116})\n", ""),  # long lines are folded
    (r"\w+ \d+ \{'xp': \d+\}", ""),  # the quests of a day
    (r"claim key [\w-]+", "claim key"),
    (r"\w{3}, \d\d \w{3} \d{4} ", "day "),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "id"),
    (r'"epoch":"\w+"', '"epoch"'),
    (r"\b[0-9a-f]{24,}\b", "id"),
    (r"127\.0\.0\.1:\d+", "host"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "time"),
    (r"\b\d{2,}\b", "number"),
)
"""(what differs from run to run, what stands for it)"""


def blocks() -> list[tuple[str, str]]:
    """(`sh`, commands) and (`text`, what they print) of the README, in their order."""
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```(sh|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def tour() -> str:
    """The commands of the README, one after the other, each behind a mark."""
    return "\n".join(f"echo '{MARK}'\n{text}" for sort, text in blocks() if sort == "sh")


def printed() -> list[str]:
    """What the README says that each of its commands prints, "" where it says nothing."""
    found: list[str] = []
    for sort, text in blocks():
        if sort == "sh":
            found.append("")
        else:
            found[-1] = text
    return found


def same_in_every_run(text: str) -> list[str]:
    """The words that are left without ids, times and numbers that are drawn or chosen by the day.

    Sorted, since participants stand in the order of their ids.
    """
    for varying, stands_for in VARYING:
        text = re.sub(varying, stands_for, text)
    return sorted(re.findall(r"[\w$]+|[^\w\s]", text))


@pytest.mark.drill
async def test_the_tour_works_as_written(tmp_path: Path):
    script = tour()
    assert script.count(LINE) == script.count(AGENT) == 1
    for command, module in PROGRAMS.items():
        script = script.replace(command, f".venv/bin/python -m {module}")
    async with server_process() as server:
        (tmp_path / ".venv").symlink_to(ROOT / ".venv")
        environment = {**os.environ, "PARTYLINE_DATA_DIR": str(server.data_dir)}
        with patience():
            done = await trio.run_process(
                ["sh", "-eu", "-c", CLEAN_UP + script.replace(LINE, server.url)],
                cwd=tmp_path,
                env=environment,
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                check=False,
            )
        shown = done.stdout.decode()
        assert done.returncode == 0, shown
        assert await server.stop() == 0
    for expected in (
        '"valid":true',
        '"kind":"direct"',
        '"type":"hello"',
        '"event":"message_created"',
        '"event":"poll_updated"',
        '"unreadCount":2',
        '"code":"CONVERSATION_NOT_FOUND"',
        '"kind":"friend_accepted"',
        '"launchSignal": {',
        '"selected":true',
        "(80, 128)",
        "purchase_updated fulfilled",
        '"perk:glow"',
        "every answer signed",
        "islands</a>",
        "<item><title>Islands are open</title>",
        '"result":{"counted":2}',
        '"displayName":"Survival Islands"',
        '"gameId":"survival"',
        '"slug":"islands"',
        '"name":"Greetings"',
        "{'xp': ",
        "(200, 400)",
        '"name":"Cow"',
        "heard: hello from Alice",
    ):
        assert expected in shown, f"{expected} is not in\n{shown}"
    for said, expected in zip(shown.split(f"{MARK}\n")[1:], printed(), strict=True):
        assert not expected or same_in_every_run(said) == same_in_every_run(expected), said
    assert os.listdir(tmp_path) == [".venv"], "the tour leaves its files behind"  # noqa: PTH208
