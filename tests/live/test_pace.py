"""Rules: a burst costs its surplus, a flood the socket."""

from routes.edge.limits import Limits
from routes.live.pace import REFUSALS_BEFORE_CLOSE, Pace, Verdict
from routes.rates import LIVE_COMMAND

QUOTA = LIVE_COMMAND.quota


def test_a_burst_is_refused_beyond_the_quota_and_a_flood_closes() -> None:
    pace = Pace(Limits(), "socket")
    verdicts = [pace.take(0) for _ in range(QUOTA + REFUSALS_BEFORE_CLOSE + 1)]
    assert verdicts[:QUOTA] == [Verdict.GO_ON] * QUOTA
    assert verdicts[QUOTA:-1] == [Verdict.REFUSE] * REFUSALS_BEFORE_CLOSE
    assert verdicts[-1] is Verdict.CLOSE
    assert pace.retry_after_ms == 60_000 // QUOTA


def test_who_slows_down_is_heard_again() -> None:
    pace = Pace(Limits(), "socket")
    for _ in range(QUOTA + REFUSALS_BEFORE_CLOSE):
        pace.take(0)
    assert pace.take(pace.retry_after_ms) is Verdict.GO_ON
    # The count of refusals begins anew.
    verdicts = {pace.take(pace.retry_after_ms) for _ in range(REFUSALS_BEFORE_CLOSE)}
    assert verdicts == {Verdict.REFUSE}


def test_sockets_are_counted_apart_and_switched_off_together() -> None:
    limits = Limits()
    busy, idle = Pace(limits, "busy"), Pace(limits, "idle")
    while busy.take(0) is Verdict.GO_ON:
        pass
    assert idle.take(0) is Verdict.GO_ON
    free = Pace(Limits(enabled=False), "busy")
    assert {free.take(0) for _ in range(10 * QUOTA)} == {Verdict.GO_ON}
