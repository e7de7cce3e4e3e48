"""Log lines that come in floods: one a second of each sort stands for all."""

from structlog.testing import capture_logs

from persistence.errors import DatabaseUnavailable, OutcomeUnknown, RowsRejected
from routes.edge.problems import problem_of
from routes.edge.sparing import Sparing


def test_one_line_a_second_tells_of_the_others() -> None:
    at = [0.0]
    sparing = Sparing(lambda: at[0])
    assert [sparing.suppressed("a") for _ in range(4)] == [0, None, None, None]
    assert sparing.suppressed("b") == 0
    at[0] = 0.999
    assert sparing.suppressed("a") is None
    at[0] = 1.0
    assert [sparing.suppressed("a"), sparing.suppressed("a")] == [4, None]
    at[0] = 9.0
    assert [sparing.suppressed("a"), sparing.suppressed("b")] == [1, 0]


def lines_of(error: Exception, requests: int) -> int:
    with capture_logs() as lines:
        for number in range(requests):
            problem_of(error, request_id=str(number), route="GET /v1/x")
    return len(lines)


def test_a_database_that_is_away_is_not_a_line_for_each_request() -> None:
    assert lines_of(DatabaseUnavailable("DiskFullError"), 500) < 50
    assert lines_of(OutcomeUnknown("DiskFullError"), 500) < 50
    assert lines_of(RowsRejected("a rule is missing"), 20) == 20
