"""The soak: what it does when, what it takes for lost, for growth and for bad weather; and all of it in small."""

import random
from typing import Any

import pytest
import trio

from scripts.load.histogram import Histogram
from scripts.soaking.__main__ import parser, plan_of
from scripts.soaking.asking import _json
from scripts.soaking.books import Books
from scripts.soaking.faults import schedule
from scripts.soaking.ledger import Kept, Writer, judge, take
from scripts.soaking.report import GROUPS, Stretch, heading, stretch_line, table
from scripts.soaking.run import Soak
from scripts.soaking.samples import Sample, slope
from scripts.soaking.scene import Room, User
from scripts.soaking.server import soaked_server
from scripts.soaking.watcher import Place, Track, Watcher
from scripts.soaking.weather import CLEARING_SECONDS, Weather
from tests.support.process import reachable_directory
from tests.support.waiting import patience

ANN = User("1", "Ann", "")


@pytest.mark.parametrize("seconds", [20.0, 60.0, 600.0, 7200.0])
def test_the_server_is_killed_early_and_nothing_happens_at_the_end(seconds: float):
    faults = schedule(seconds, 1)
    moments = [fault.at_seconds for fault in faults]
    assert moments == sorted(moments) and moments[-1] < seconds
    kills = [fault.at_seconds for fault in faults if fault.kind == "server"]
    assert kills and max(kills) <= max(seconds / 3, moments[0])
    if seconds == 7200.0:
        assert {fault.kind for fault in faults} == {"server", "database", "sockets", "slow readers"}


def kept(names: str) -> list[Kept]:
    return [Kept(name, ord(name)) for name in names]


def messages(names: str) -> list[dict[str, Any]]:
    return [{"clientMessageId": f"0-{ord(n) - 97}", "id": n, "createdAtMs": ord(n)} for n in names]


@pytest.mark.parametrize(
    ("acked", "stored", "found"),
    [
        ("abc", "abc", (0, 0, 0)),
        ("ab", "abc", (0, 0, 0)),
        ("abc", "ac", (1, 0, 0)),
        ("abc", "abbc", (0, 1, 0)),
        ("abc", "acb", (0, 0, 1)),
    ],
)
def test_the_judge_tells_lost_from_repeated_and_disordered(acked: str, stored: str, found: tuple[int, ...]):
    writer = Writer(0, ANN, Room("r", (ANN,)))
    writer.kept = kept(acked)
    verdict = judge(messages(stored), [writer])
    assert (verdict.missing, verdict.repeated, verdict.disordered) == found


def test_a_writer_is_taken_once_until_it_has_written():
    writers = [Writer(number, ANN, Room("r", (ANN,))) for number in range(2)]
    taken = [take(writers, random.Random(1)) for _ in range(3)]
    assert {one.number for one in taken if one is not None} == {0, 1} and taken[2] is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [(b'{"a":1}', {"a": 1}), (b"[1]", [1]), (b"", None), (b"<p>", None), (b"{\xff\x00", None)],
)
def test_an_answer_is_json_where_it_is(answer: bytes, said: object):
    assert _json(answer) == said


def life(pid: int, begin: int, values: list[int]) -> list[Sample]:
    return [Sample(begin + 10.0 * at, pid, value, 10, 3, 0) for at, value in enumerate(values)]


def test_growth_is_judged_over_the_settled_life_of_the_last_process():
    killed = life(1, 0, [1_000_000 * n for n in range(100)])
    warming = [n * 1_000_000 for n in range(50)]
    flat = [50_000_000 + (5_000_000 if n % 7 == 0 else 0) for n in range(150)]
    judged = slope([*killed, *life(2, 1000, [*warming, *flat])], "server_bytes")
    assert judged.per_hour == 0 and judged.seconds > 1000
    growing = slope(life(1, 0, [n * 10_000 for n in range(200)]), "server_bytes")
    assert growing.per_hour == pytest.approx(3_600_000)
    assert slope(life(1, 0, [1, 2, 3]), "server_bytes").seconds == 0
    assert slope([], "server_bytes").seconds == 0


async def test_what_begins_or_ends_in_a_storm_is_explained_by_it(autojump_clock: Any):
    weather = Weather()
    before = weather.mark()
    assert not weather.was_rough(before)
    with weather.storm():
        within = weather.mark()
        assert weather.was_rough(before)
    assert weather.was_rough(weather.mark())
    await trio.sleep(CLEARING_SECONDS + 1)
    assert weather.was_rough(before) and weather.was_rough(within)
    assert not weather.was_rough(weather.mark())


def frame(channel: str, offset: int, epoch: str = "a") -> bytes:
    return f'{{"type":"event","channel":"{channel}","epoch":"{epoch}","offset":{offset}}}'.encode()


@pytest.mark.parametrize(
    ("frames", "gaps", "repeated"),
    [
        ([("conversation:1", 1), ("conversation:1", 2)], 0, 0),
        ([("conversation:1", 1), ("conversation:1", 3)], 1, 0),
        ([("conversation:1", 1), ("conversation:1", 1)], 0, 1),
        ([("conversation:1", 5), ("conversation:1", 1, "b")], 0, 0),
        ([("friends", 1), ("friends", 5)], 0, 0),
    ],
)
def test_a_watcher_sees_gaps_and_repeats_of_what_is_durable(
    frames: list[tuple[Any, ...]], gaps: int, repeated: int
):
    books = Books()
    place = Place(None, ("", 0), "")  # type: ignore[arg-type]
    watcher = Watcher(place, 0, "", ("conversation:1", "friends"), books, Weather(), random.Random(1))
    watcher.tracks = {"conversation:1": Track(), "friends": Track()}
    for one in frames:
        watcher.heard(0, frame(*one))
    assert (books.sockets["gaps"], books.sockets["repeated"]) == (gaps, repeated)


def test_each_stretch_is_a_line_below_the_heading():
    slow = Histogram()
    slow.add(5_000_000)
    sample = Sample(300, 1, 120_000_000, 100, 3, 80_000_000)
    line = stretch_line(Stretch(300, 300, {"chat/message": slow}, sample, 6_000_000, 0, 7))
    assert all(group in heading() for group in GROUPS)
    assert "5.1/5.1" in line and "120 MB" in line and line.endswith("7")
    assert "away" in stretch_line(Stretch(300, 300, {}, None, None, 0, 0))


@pytest.mark.parametrize(
    "words",
    [
        ["--hours", "24"],
        ["--rate", "0"],
        ["--users", "3"],
        ["--minutes", "-1"],
        ["--minutes", "0"],
        ["--memory-slope", "nan"],
    ],
)
def test_what_cannot_be_done_is_refused(words: list[str]):
    with pytest.raises(ValueError, match=r"is 1 to|lasts up|0 or more"):
        plan_of(parser().parse_args(words))


@pytest.mark.drill
async def test_a_soak_that_is_ended_early_is_judged():
    plan = plan_of(parser().parse_args(["--hours", "2", "--rate", "30", "--users", "8", "--no-faults"]))
    enough, said = trio.Event(), list[str]()
    with reachable_directory() as folder, patience():
        async with soaked_server(folder) as server, trio.open_nursery() as nursery:
            soak = Soak(plan, server, said.append, enough=enough)

            async def end_it() -> None:
                while soak.books.answered <= 50:  # noqa: ASYNC110  (nobody tells us)
                    await trio.sleep(0.02)
                enough.set()

            nursery.start_soon(end_it)
            outcome = await soak.run()
    assert outcome.seconds < 3600
    assert outcome.verdict.exact and outcome.verdict.expected > 0


@pytest.mark.drill
async def test_a_soak_in_small():
    plan = plan_of(parser().parse_args(["--minutes", "0.1", "--rate", "30", "--users", "8"]))
    with reachable_directory() as folder:
        said: list[str] = []
        async with soaked_server(folder) as server:
            outcome = await Soak(plan, server, said.append).run()
    assert outcome.verdict.exact and outcome.verdict.expected > 0
    assert [fault.kind for fault in outcome.faults] == ["server"] and outcome.starts == 2
    assert not outcome.books.sockets["gaps"] and not outcome.books.sockets["repeated"]
    assert outcome.after["chat"].rows > outcome.before["chat"].rows
    assert "0 missing, 0 repeated, 0 out of order" in table(outcome) and len(said) > 1
