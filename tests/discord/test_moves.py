"""Rules: how a webhook stands after each answer, and when it is asked again."""

from itertools import product

import pytest
from msgspec.structs import replace

from actors.discord.moves import (
    MOVES,
    SIGNS,
    UNREACHABLE_AFTER_MS,
    USABLE,
    Sign,
    Verdict,
    after,
    attempts_after,
    backoff_ms,
)
from persistence.discord.rows import WebhookRow, WebhookStatus

NOW_MS = 1_795_500_000_000
ROW = WebhookRow(
    network_id="n", guild_id="1", invite_url=None, events=(), webhook_status="active", webhook_id="1",
    sealed_token=b"t", created_at_ms=0, updated_at_ms=0,
)  # fmt: skip


def test_every_answer_has_its_move() -> None:
    assert MOVES.keys() == set(product(USABLE, Sign))
    assert SIGNS.keys() == set(Verdict)


@pytest.mark.parametrize("status", sorted(USABLE))
@pytest.mark.parametrize(
    ("verdict", "becomes"),
    [
        (Verdict.TAKEN, "active"),
        (Verdict.REFUSED, "active"),
        (Verdict.LIMITED, None),
        (Verdict.FAILED, None),
        (Verdict.DOUBTFUL, None),
        (Verdict.UNKNOWN, "gone"),
        (Verdict.DENIED, "invalid"),
    ],
)
def test_what_an_answer_makes_of_it(status: WebhookStatus, verdict: Verdict, becomes: str | None) -> None:
    """`None`: it stays as it is."""
    row = after(replace(ROW, webhook_status=status), verdict, 700, NOW_MS)
    assert row.webhook_status == (becomes or status)
    assert (row.sealed_token is None) == (row.webhook_status not in USABLE)
    assert row.due_at_ms >= NOW_MS + 700


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.DOUBTFUL])
def test_it_is_unreachable_after_half_an_hour(verdict: Verdict) -> None:
    row = after(ROW, verdict, 0, NOW_MS)
    assert (row.webhook_status, row.failing_since_ms, row.failures) == ("active", NOW_MS, 1)
    early = after(row, verdict, 0, NOW_MS + UNREACHABLE_AFTER_MS - 1)
    assert early.webhook_status == "active"
    late = after(early, verdict, 0, NOW_MS + UNREACHABLE_AFTER_MS)
    assert (late.webhook_status, late.failures) == ("unreachable", 3)
    well = after(late, Verdict.TAKEN, 0, NOW_MS)
    assert (well.webhook_status, well.failures, well.failing_since_ms) == ("active", 0, None)


def test_a_limit_is_no_failure_and_forgives_none() -> None:
    failing = after(ROW, Verdict.FAILED, 0, NOW_MS)
    limited = after(failing, Verdict.LIMITED, 2_000, NOW_MS)
    assert (limited.failures, limited.failing_since_ms) == (1, NOW_MS)
    assert limited.due_at_ms == NOW_MS + 2_000


def test_how_often_a_post_is_sent() -> None:
    assert attempts_after(3, Verdict.LIMITED) == 3
    assert [attempts_after(attempts, Verdict.FAILED) for attempts in (0, 8, 9)] == [1, 9, None]
    for verdict in set(Verdict) - {Verdict.LIMITED, Verdict.FAILED}:
        assert attempts_after(0, verdict) is None


def test_pauses_grow_up_to_an_hour() -> None:
    pauses = [backoff_ms(failures) for failures in range(1, 40)]
    assert pauses[:4] == [5_000, 10_000, 20_000, 40_000]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 3_600_000
    # A silent Discord is unreachable before a post has failed ten times.
    assert sum(pauses[:8]) < UNREACHABLE_AFTER_MS <= sum(pauses[:9])
