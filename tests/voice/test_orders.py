"""What a node is told is repeated until it acknowledges it, for ten minutes; and seats are one to a user."""

import pytest

from actors.voice.outbox import ACTION_MS, AT_ONCE, MOST_ACTIONS, Outbox
from actors.voice.seats import Seats

NOW_MS = 1_795_000_000_000


def users_of(outbox: Outbox) -> list[str | None]:
    return [one.user_id for one in outbox.pending()]


def put(outbox: Outbox, user_id: str, kind: str = "remove", at_ms: int = NOW_MS) -> None:
    outbox.put(kind, "c", user_id, not_before_s=at_ms // 1000, now_ms=at_ms)  # type: ignore[arg-type]


def test_orders_are_repeated_until_acknowledged() -> None:
    outbox = Outbox("e")
    put(outbox, "ann")
    cursor = outbox.cursor()
    put(outbox, "ben")
    for _ in range(3):
        assert users_of(outbox) == ["ann", "ben"]
        assert not outbox.acknowledge(None)
    for foreign in ("", "f.9", "e.", "e.x", "e.-1", "e.٣", "9"):
        assert not outbox.acknowledge(foreign)
    assert outbox.acknowledge(cursor)
    assert users_of(outbox) == ["ben"]
    assert outbox.acknowledge(outbox.cursor())
    assert users_of(outbox) == []


def test_orders_end_after_ten_minutes() -> None:
    outbox = Outbox("e")
    put(outbox, "ann")
    put(outbox, "ben", at_ms=NOW_MS + 1)
    outbox.expire(NOW_MS + ACTION_MS - 1)
    assert users_of(outbox) == ["ann", "ben"]
    outbox.expire(NOW_MS + ACTION_MS)
    assert users_of(outbox) == ["ben"]


def test_of_an_order_and_its_opposite_the_later_is_kept() -> None:
    outbox = Outbox("e")
    put(outbox, "ann", "mute")
    put(outbox, "ann")
    put(outbox, "ann", "unmute")
    assert [one.kind for one in outbox.pending()] == ["remove", "unmute"]


def test_who_is_removed_is_not_muted_by_what_was_said_before() -> None:
    outbox = Outbox("e")
    put(outbox, "ann", "mute")
    put(outbox, "ben", "mute")
    put(outbox, "ann")
    assert [(one.kind, one.user_id) for one in outbox.pending()] == [("mute", "ben"), ("remove", "ann")]
    put(outbox, "ann", "mute")
    assert [one.kind for one in outbox.pending()] == ["mute", "remove", "mute"]
    put(outbox, "ben", "unmute")
    put(outbox, "ben")
    assert [one.kind for one in outbox.pending()] == ["remove", "mute", "unmute", "remove"]


def test_orders_are_bounded() -> None:
    outbox = Outbox("e")
    for number in range(MOST_ACTIONS + 1):
        put(outbox, str(number))
    assert len(outbox) == MOST_ACTIONS
    assert users_of(outbox) == [str(number) for number in range(1, AT_ONCE + 1)]
    assert outbox.acknowledge(outbox.cursor())
    assert users_of(outbox)[0] == str(AT_ONCE + 1)


def test_a_seat_is_kept_for_a_user_once() -> None:
    seats = Seats()
    seats.sit("ann", "n")
    assert seats.keep("n", ("ann",), 1), "who has a seat there needs no other"
    assert not seats.keep("n", ("ben",), 1)
    assert seats.keep("n", ("ben",), 2)
    assert (seats.used("n"), seats.taken("n")) == (2, 1)
    # Her session ends before the next one is there: nobody gets her seat meanwhile.
    seats.sit("ann", None)
    assert not seats.keep("n", ("cid",), 2)
    seats.sit("ann", "n")
    seats.release("n", ("ann",))
    seats.sit("ben", "n")
    seats.release("n", ("ben",))
    assert (seats.used("n"), seats.taken("n")) == (2, 2)
    seats.sit("ben", "m")
    assert (seats.used("n"), seats.used("m")) == (1, 1)


def test_seats_in_doubt_are_kept_until_it_is_known() -> None:
    seats = Seats()
    assert seats.keep("n", ("ann", "ben"), 2)
    seats.doubt("c", "n", ("ann", "ben"))
    assert not seats.keep("n", ("cid",), 2)
    seats.sit("ann", "n")
    seats.settle("c")
    seats.settle("c")
    assert seats.keep("n", ("cid",), 2)
    assert seats.used("n") == 2


@pytest.mark.parametrize("node_ids", [("n", None), ("n", "n", None), ("n", "m", None)])
def test_nothing_is_left_of_who_has_gone(node_ids: tuple[str | None, ...]) -> None:
    seats = Seats()
    for node_id in node_ids:
        seats.sit("ann", node_id)
    assert (seats.used("n"), seats.used("m"), seats.taken("n"), seats.taken("m")) == (0, 0, 0, 0)
    assert not seats._claims
    assert not seats._used
