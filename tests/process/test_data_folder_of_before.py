"""A data folder that an earlier version has left goes on: database, journal, snapshots, keys and blobs.

`data_folder_<day>.tar.gz` holds what the service of that day has written for a few users: conversations with more
messages than memory keeps, a poll, an attachment, a party, a game server with sealed settings and an open command, a
network, a publication, a cape, a totem. That of 26 November has what three wire tests of each domain had left in one
database: the shop, voice, news, gateways and catalogs among it, and snapshots whose versions are no longer read.
`answers.json` in it is what that service answered to GETs after a restart.
"""

import itertools
import json
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.connect.play import GameServer
from tests.support.database import run_sql, with_database
from tests.support.shifted_clock import ShiftedClock
from tests.support.world import Player, World, open_world

DAYS = ("2026_11_22", "2026_11_23", "2026_11_26")
WITH_SECRETS = DAYS[:2]
"""Those whose archive also says what to write with."""

FORGOTTEN = {"2026_11_22": "/events?since=0"}
"""What a migration since then lets go: the history of conversations told too much (0020_retold_history.sql)."""

_numbers = itertools.count(1)


class StoppedClock(ShiftedClock):
    """Stands where the earlier service was asked."""

    def __init__(self, at_ms: int) -> None:
        super().__init__()
        self._at_ms = at_ms

    def now_ms(self) -> int:
        return self._at_ms


@pytest.fixture(params=DAYS)
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """What is in the archive besides files: answers, and what the test has to know."""
    with tarfile.open(Path(__file__).with_name(f"data_folder_{request.param}.tar.gz")) as archive:
        # Python 3.11 knows filters from its fourth patch on only, and the archive is our own.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    left = json.loads((tmp_path / "answers.json").read_text())
    forgotten = FORGOTTEN.get(request.param)
    left["answers"] = [one for one in left["answers"] if not forgotten or forgotten not in one["path"]]
    for one in left["answers"]:
        if "/events?" in one["path"]:
            _unsay_choices(one["answer"])
        if "/personal-totem/" in one["path"]:
            _unsay_empty_names(one["answer"])
    return left


def _unsay_choices(page: Any) -> None:
    """Past events said of a poll that nothing is selected, which they never knew."""
    for event in page["items"]:
        for option in (event["data"].get("poll") or {}).get("options", ()):
            option.pop("selected", None)


def _unsay_empty_names(page: Any) -> None:
    """Lists of totems said of a totem without a file name that it was empty, and leave it out now."""
    for item in page.get("items", ()):
        item["fileName"] = item["fileName"] or None


@pytest.fixture
async def world(left: Any, tmp_path: Path, postgres_server: str) -> AsyncIterator[World]:
    """The service of today on that data folder."""
    name = f"of_before_{next(_numbers)}"
    run_sql(postgres_server, f"CREATE DATABASE {name} TEMPLATE template0")
    url = with_database(postgres_server, name)
    run_sql(url, (tmp_path / "database.sql").read_text())
    async with open_world(
        url, tmp_path / "data", clock=StoppedClock(left["at_ms"]), rate_limits="off"
    ) as world:
        yield world
    run_sql(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")


def _player(world: World, user: Any) -> Player:
    return Player(world, user["id"], user["name"], world.token(user["id"], user["name"]))


def _as_then(now: Any, then: Any) -> Any:
    """The answer of now without fields that came since, and with the values of then where they last no longer than a
    request or a process: since when a user is online, when they were seen last, and that two in one party are in
    touch."""
    if isinstance(then, list) and isinstance(now, list) and len(now) == len(then):
        return [_as_then(one, other) for one, other in zip(now, then, strict=True)]
    if not isinstance(then, dict) or not isinstance(now, dict):
        return now
    passing = {"requestId", "lastSeenAt", "flameStreak"} | ({"timestamp"} if "state" in then else set())
    return {
        name: value if name in passing else _as_then(now.get(name), value) for name, value in then.items()
    }


async def test_everything_is_answered_as_before(world: World, left: Any) -> None:
    for asked in left["answers"]:
        response = await _player(world, asked["user"]).ask("GET", asked["path"])
        is_json = "json" in response.headers.get("content-type", "")
        answer = response.json() if is_json else response.text
        path = asked["path"]
        assert (path, response.status_code) == (path, asked["status"])
        assert (path, _as_then(answer, asked["answer"])) == (path, asked["answer"])
    print(f"{len(left['answers'])} answers as one of {len(DAYS)} earlier versions gave them")


@pytest.mark.parametrize("left", WITH_SECRETS, indirect=True)
async def test_it_is_written_to_and_started_again(world: World, left: Any) -> None:
    ann = _player(world, left["answers"][0]["user"])
    known = left["secrets"]
    # An id that a client used before finds the message of then, in the window that a snapshot has brought back.
    again = {"content": "first", "clientMessageId": "one"}
    assert (await ann.do("POST", f"{known['group']}/messages", again))["id"] == known["message"]
    fresh = await ann.do("POST", f"{known['group']}/messages", {"content": "today"}, status=201)
    assert (await ann.get(f"{known['group']}/messages"))["items"][-1]["id"] == fresh["id"]
    # The server's secret and its sealed settings were made with the keys of then.
    made = {"serverId": known["server"]["id"], "serverName": "Lobby", "claimKey": ""}
    server = GameServer(world, {**made, "serverSecret": known["server"]["secret"]})
    settings = await server.get(f"{server.path}/settings", source="shop")
    assert settings["data"] == {"open": True, "token": "hidden"}
