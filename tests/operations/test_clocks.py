"""The service's clock beside the machine's and that of a real database, which is right."""

import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.kernel.clock import SystemClock
from persistence.bridge.database import Database
from routes.cli.doctor import examine
from routes.clocks import EARLIEST, LEAP_MAX_MS, Clocks, ClockUnset, require_time
from routes.config.config import read_config
from routes.process import run

HOUR_MS = 3_600_000
APART = "the service's clock differs from the database's; let all machines keep time by NTP"


class Machine:
    """A machine whose clock was wrong when the service started, and is right unless it is set.

    Args:
        database: the database, which has the right time.
        wrong_ms: by how much the machine's clock was ahead at the start.
    """

    def __init__(self, database: Database, wrong_ms: int) -> None:
        self.wrong_ms = wrong_ms
        clock = SystemClock(wall_ns=lambda: time.time_ns() + self.wrong_ms * 1_000_000)
        self.clocks = Clocks(
            database, clock, most_ms=5_000, wall_ms=lambda: time.time() * 1000 + self.wrong_ms
        )
        self._clock = clock

    def service_ahead_ms(self) -> float:
        """By how much the service's clock is ahead of the right time."""
        return self._clock.now_ms() - time.time() * 1000

    async def look(self, times: int) -> list[str]:
        """Compare the clocks so many times; returns what was logged."""
        with capture_logs() as lines:
            for _ in range(times):
                await self.clocks.look()
        return [str(line["event"]) for line in lines]


async def test_a_service_that_lags_takes_the_time_at_the_second_look(database: Database) -> None:
    """As after a pause of its virtual machine; a clock that is wrong for a moment changes nothing."""
    machine = Machine(database, -HOUR_MS)
    machine.wrong_ms = 0
    assert await machine.look(1) == [APART]
    assert machine.service_ahead_ms() == pytest.approx(-HOUR_MS, abs=1_000)
    assert machine.clocks.machine_ahead_seconds == pytest.approx(3600, abs=1)
    assert machine.clocks.database_ahead_seconds == pytest.approx(3600, abs=1)
    await machine.look(1)
    assert machine.service_ahead_ms() == pytest.approx(0, abs=1_000)
    assert machine.clocks.database_ahead_seconds == pytest.approx(0, abs=1)


@pytest.mark.parametrize(
    ("began_ms", "wrong_ms"),
    [
        (0, HOUR_MS),  # the database does not agree
        (HOUR_MS, 0),  # it would go back
        (-LEAP_MAX_MS - HOUR_MS, 0),  # what is kept for a day would be gone
        (-2_000, 0),  # that is caught up with slowly
    ],
)
async def test_a_service_keeps_its_time_otherwise(database: Database, began_ms: int, wrong_ms: int) -> None:
    machine = Machine(database, began_ms)
    machine.wrong_ms = wrong_ms
    told = await machine.look(4)
    assert machine.service_ahead_ms() == pytest.approx(began_ms, abs=1_000)
    assert told.count(APART) == (abs(began_ms) > 5_000), "once, where it is apart from the database"


def test_a_clock_that_was_never_set_is_known() -> None:
    earliest = EARLIEST.timestamp()
    require_time(earliest)
    with pytest.raises(ClockUnset, match="2019-12-31 23:59"):
        require_time(earliest - 1)


async def test_a_machine_in_1970_is_told_so_and_does_not_serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config({"PARTYLINE_DATA_DIR": str(tmp_path), "PARTYLINE_BIND": "127.0.0.1:0"})
    monkeypatch.setattr(time, "time", lambda: 86_400.0)
    with pytest.raises(ClockUnset, match="1970-01-02"):
        run(config)
    assert [one.ill async for one in examine(config) if one.about == "clock"] == [True]
