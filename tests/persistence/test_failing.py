"""What fails again and again is told ever more rarely, and what is remembered of it has a bound."""

from persistence.failing import MOST_FAILING, Failing

ONE = "asking", "one"


def test_each_reason_is_told_at_powers_of_two() -> None:
    failing = Failing()
    assert [failing.count(ONE, "a") for _ in range(9)] == [1, 2, None, 4, None, None, None, 8, None]
    assert [failing.count(ONE, "b") for _ in range(3)] == [1, 2, None]


def test_what_went_well_fails_as_if_for_the_first_time() -> None:
    failing = Failing()
    assert [failing.count(ONE, reason) for reason in "aaab"] == [1, 2, None, 1]
    failing.forget(("asking", "another"))
    assert failing.count(ONE, "b") == 2
    failing.forget(ONE)
    assert [failing.count(ONE, reason) for reason in "ab"] == [1, 1]


def test_it_is_remembered_for_a_while_after_the_last_failure() -> None:
    now = 0.0
    failing = Failing(10.0, now=lambda: now)
    assert failing.count(ONE, "a") == 1
    now = 9.0
    assert failing.count(ONE, "a") == 2
    now = 18.0
    assert failing.count(ONE, "a") is None
    now = 28.0
    assert failing.count(ONE, "a") == 1


def test_of_too_many_the_one_that_failed_longest_ago_is_forgotten() -> None:
    failing = Failing()
    others = [("asking", str(number)) for number in range(MOST_FAILING)]
    for thing in (others[0], ONE, *others):
        failing.count(thing, "a")
    assert failing.count(others[0], "a") is None  # for the third time, as it was not forgotten
    assert failing.count(ONE, "a") == 1
