"""Rules: of a server is told once its state has lasted, however often it flaps before."""

from hypothesis import given
from hypothesis import strategies as st

from actors.discord.posting import Turned
from actors.discord.uptime import SETTLE_MS, Uptime
from persistence.discord.rows import WatchedRow

NETWORK, OTHER, SERVER = "n", "o", "s"


def watching(*online: str) -> Uptime:
    uptime = Uptime()
    uptime.watch(WatchedRow(NETWORK, online))
    return uptime


def tick(uptime: Uptime, now_ms: int) -> list[Turned]:
    """What is told of at a moment."""
    turned = uptime.take_due(now_ms, 100)
    uptime.told(turned, now_ms)
    return turned


def test_it_is_told_of_after_a_minute_and_once() -> None:
    uptime = watching()
    uptime.saw(SERVER, NETWORK, 0, online=True)
    uptime.saw(SERVER, NETWORK, 30_000, online=True)
    assert tick(uptime, SETTLE_MS - 1) == []
    assert tick(uptime, SETTLE_MS) == [Turned(SERVER, True)]
    uptime.saw(SERVER, NETWORK, SETTLE_MS + 1, online=True)
    assert tick(uptime, 10 * SETTLE_MS) == []
    uptime.missed(SERVER, 10 * SETTLE_MS)
    assert tick(uptime, 11 * SETTLE_MS) == [Turned(SERVER, False)]
    assert len(uptime) == 0


def test_one_that_flaps_is_not_told_of() -> None:
    uptime = watching(SERVER)
    for at_ms in range(0, 100 * SETTLE_MS, SETTLE_MS // 2):
        uptime.saw(SERVER, NETWORK, at_ms, online=at_ms % SETTLE_MS == 0)
        assert tick(uptime, at_ms) == []
    assert len(uptime._due) <= 2  # the heap does not grow with each change


def test_one_that_was_told_of_before_a_restart_is_not_told_of_again() -> None:
    uptime = watching(SERVER)
    uptime.missed(SERVER, 0, 90_000)
    uptime.saw(SERVER, NETWORK, 100_000, online=True)
    assert tick(uptime, 10 * SETTLE_MS) == []


def test_one_that_does_not_come_back_after_a_restart_is_told_of() -> None:
    uptime = watching(SERVER)
    uptime.missed(SERVER, 0, 90_000)
    assert tick(uptime, 90_000 + SETTLE_MS - 1) == []
    assert tick(uptime, 90_000 + SETTLE_MS) == [Turned(SERVER, False)]


def test_one_that_came_back_after_a_restart_has_no_more_patience() -> None:
    uptime = watching(SERVER)
    uptime.missed(SERVER, 0, 90_000)
    uptime.saw(SERVER, NETWORK, 10_000, online=True)
    uptime.missed(SERVER, 20_000)
    assert tick(uptime, 20_000 + SETTLE_MS - 1) == []
    assert tick(uptime, 20_000 + SETTLE_MS) == [Turned(SERVER, False)]


def test_what_could_not_be_told_comes_again_unless_it_has_passed() -> None:
    uptime = watching()
    for server_id in ("a", "b"):
        uptime.saw(server_id, NETWORK, 0, online=True)
    turned = uptime.take_due(SETTLE_MS, 100)
    assert uptime.take_due(SETTLE_MS, 100) == []
    uptime.saw("b", NETWORK, SETTLE_MS, online=False)
    uptime.untold(turned, SETTLE_MS)
    assert tick(uptime, SETTLE_MS) == [Turned("a", True)]


def test_one_that_changes_while_it_is_told_of_is_told_of_again_once_that_lasts() -> None:
    uptime = watching()
    uptime.saw(SERVER, NETWORK, 0, online=True)
    turned = uptime.take_due(SETTLE_MS, 100)
    uptime.saw(SERVER, NETWORK, SETTLE_MS, online=False)
    uptime.told(turned, SETTLE_MS + 10)
    assert tick(uptime, 2 * SETTLE_MS + 9) == []
    assert tick(uptime, 2 * SETTLE_MS + 10) == [Turned(SERVER, False)]


def test_servers_of_networks_that_do_not_ask_take_no_memory() -> None:
    uptime = watching()
    uptime.saw(SERVER, OTHER, 0, online=True)
    uptime.saw("x", None, 0, online=True)
    uptime.saw("y", NETWORK, 0, online=False)
    assert len(uptime) == 0
    uptime.saw("z", NETWORK, 0, online=True)
    uptime.saw("z", OTHER, 1, online=True)
    assert len(uptime) == 0
    uptime.saw("z", NETWORK, 1, online=True)
    uptime.saw("z", None, 1, online=True)
    assert len(uptime) == 0
    uptime.saw("z", NETWORK, 2, online=True)
    uptime.unwatch(NETWORK)
    assert (len(uptime), uptime.networks(), tick(uptime, 10 * SETTLE_MS)) == (0, (), [])


@given(st.lists(st.tuples(st.integers(1, 100_000), st.booleans()), max_size=60))
def test_what_is_told_alternates_and_has_lasted(steps: list[tuple[int, bool]]) -> None:
    uptime, now_ms, online, since_ms, told = watching(), 0, False, 0, [False]
    for pause_ms, state in steps:
        for at_ms in range(now_ms, now_ms + pause_ms, 1_000):
            for one in tick(uptime, at_ms):
                assert one.online == online != told[-1]
                assert at_ms - since_ms >= SETTLE_MS
                told.append(one.online)
        now_ms += pause_ms
        if state != online:
            online, since_ms = state, now_ms
        uptime.saw(SERVER, NETWORK, now_ms, online=state)
    for one in tick(uptime, now_ms + 2 * SETTLE_MS):
        told.append(one.online)
    # In the end it is told as it is.
    assert told[-1] == online
