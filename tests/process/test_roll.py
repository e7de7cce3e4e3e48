"""From one release to the next under load: all nodes of a keeper are renewed one after the other, no request fails, and
who watches goes on where they were.

The next release is the present one with one more migration. `ROLL_FROM=COMMIT` goes from that state of the code to the
present one in its place, and `ROLL_NODES` says with how many nodes.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
import trio

from routes.edge.identity.keys import open_keys
from scripts.benchmarks.worktree import worktree
from tests.support.keeper import Keeper
from tests.support.load import under_load
from tests.support.process import reachable_directory, started
from tests.support.speaker import Speaker
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.websocket import Closed, connect

ROOT = Path(__file__).resolve().parents[2]
FROM = os.environ.get("ROLL_FROM")
NODES = int(os.environ.get("ROLL_NODES", "2"))
SPEAKERS = 3
SOCKETS = 6

MIGRATION = "9999_next_release.sql"
EXPANSION = "-- expands\nALTER TABLE nodes ADD COLUMN next_release boolean NOT NULL DEFAULT false;\n"

PACKAGES = ("actors", "compiled", "partyline", "persistence", "routes")


@contextmanager
def _releases(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where two releases lie."""
    if FROM is not None:
        with worktree(FROM) as before:
            yield before, ROOT
    else:
        yield ROOT, _next_release(folder / "next")


def _next_release(folder: Path) -> Path:
    """The present release with one more migration."""
    migrations = folder / "persistence" / "migrations"
    migrations.mkdir(parents=True)
    for own, place in ((ROOT, folder), (ROOT / "persistence", migrations.parent)):
        for path in own.iterdir():
            if (own != ROOT or path.name in PACKAGES) and not (place / path.name).exists():
                (place / path.name).symlink_to(path)
    for path in (ROOT / "persistence" / "migrations").glob("*.sql"):
        (migrations / path.name).symlink_to(path)
    (migrations / MIGRATION).write_text(EXPANSION)
    return folder


class Installed:
    """The program, and which release it is of.

    Args:
        folder: where it is installed.
    """

    def __init__(self, folder: Path) -> None:
        self._present = folder / "present"
        self.program = folder / "program"
        self.program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{self._present}" exec "{sys.executable}" -P -m routes.cli "$@"\n'
        )
        self.program.chmod(0o755)

    def install(self, release: Path) -> None:
        """Have what starts from now on be of this release."""
        self._present.unlink(missing_ok=True)
        self._present.symlink_to(release)


@dataclass
class Follower:
    """Somebody who watches a speaker's groups, and comes back where they were when their node goes."""

    speaker: Speaker
    heard: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, dict[str, object]] = field(default_factory=dict)
    told: int = 0
    resumed: int = 0

    async def follow(self, url: str) -> None:
        """Watch until cancelled."""
        while True:
            try:
                async with connect(f"{url}/v1/social/live?channels=", token=self.speaker.token) as socket:
                    for group in self.speaker.groups:
                        channel = f"conversation:{group}"
                        ask = {
                            "op": "subscribe",
                            "id": channel,
                            "channel": channel,
                            "params": {"mode": "delta"},
                        }
                        await socket.send_json({**ask, "since": self.places.get(channel)})
                    while True:
                        self._take(await socket.receive_json())
            except (Closed, trio.BrokenResourceError):
                continue

    def _take(self, frame: dict[str, object]) -> None:
        if frame["type"] == "reconnect":
            self.told += 1
        elif frame["type"] == "reply":
            assert frame["ok"], frame
            channel = str(frame["channel"])
            assert frame["recovered"] is (channel in self.places), frame
            self.resumed += channel in self.places
            if channel not in self.places:
                self.places[channel] = {"epoch": frame["epoch"], "offset": frame["offset"]}
        elif frame["type"] == "snapshot":  # what was said before they came
            data = frame["data"]
            assert isinstance(data, dict)
            self.heard[str(frame["channel"]).removeprefix("conversation:")] = [
                one["id"] for one in data["items"]
            ]
        elif frame["type"] == "event" and frame["offset"] is not None:
            channel, data = str(frame["channel"]), frame["data"]
            place = self.places[channel]
            assert place["offset"] == int(str(frame["offset"])) - 1, (place, frame)
            self.places[channel] = {"epoch": frame["epoch"], "offset": frame["offset"]}
            if frame["event"] == "message_created":
                assert isinstance(data, dict)
                self.heard.setdefault(channel.removeprefix("conversation:"), []).append(data["id"])

    async def has_heard(self) -> bool:
        """Whether they have heard all that was said, once and in order."""
        return self.heard == self.speaker.said


@pytest.mark.drill
async def test_a_roll_from_one_release_to_the_next_fails_no_request() -> None:
    with reachable_directory() as folder, _releases(folder) as (before, after):
        installed = Installed(folder)
        installed.install(before)
        keeper = Keeper(folder, settings={"processes": str(NODES)}, program=installed.program)
        async with started(keeper), trio.open_nursery() as nursery:
            await keeper.shared()
            old = keeper.pids
            keys = open_keys(keeper.data_dir)
            async with under_load(keeper.url, keys, speakers=SPEAKERS, sockets=SOCKETS) as load:
                followers = [Follower(speaker) for speaker in load.speakers[:SPEAKERS]]
                for follower in followers:
                    nursery.start_soon(follower.follow, keeper.url)
                installed.install(after)
                assert keeper.process is not None
                began_at = trio.current_time()
                keeper.process.send_signal(signal.SIGHUP)

                async def is_rolled() -> bool:
                    return "roll_done" in keeper.log or "roll_stopped" in keeper.log

                await wait_until(is_rolled)
                seconds = trio.current_time() - began_at
            assert "roll_done" in keeper.log, keeper.log[-2000:]
            for follower in followers:
                await wait_until(follower.has_heard)
            await _is_there(keeper, load.speakers[:SPEAKERS])
            assert not old & keeper.pids
            nursery.cancel_scope.cancel()
        assert f"migration={MIGRATION}" in keeper.log.replace("'", "") or FROM is not None
    resumed = sum(follower.resumed for follower in followers)
    print(
        f"{FROM or 'the present release'} to the next: {NODES} nodes in {seconds:.0f} s, {load.requests} messages, "
        f"{len(load.failures)} failed, {load.told} sockets told to reconnect, {resumed} subscriptions resumed"
    )
    assert not load.failures
    assert load.requests > 20
    # Each was open on a node that went; whoever came to one that was renewed later has moved again.
    assert load.told >= SOCKETS
    assert load.closed.count(4503) >= load.told
    assert resumed >= 2 * SPEAKERS


async def _is_there(keeper: Keeper, speakers: list[Speaker]) -> None:
    for speaker in speakers:
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            speaker.use(http)
            found = await speaker.read(keeper.url)
        assert found == {group: said[-100:] for group, said in speaker.said.items()}
