"""What is encoded ahead has a bound, and beyond it frames are the same, only made anew."""

from collections.abc import Sequence
from secrets import token_bytes

import pytest

from actors.friends import circles as module
from actors.friends import view, watched_users
from actors.friends.circles import Circles
from actors.friends.live import FriendsLive
from actors.friends.state import RECORD, FriendsState, state_of
from actors.friends.view import OwnParts
from actors.friends.visibility import NOBODY, UNRESTRICTED, Stored, Visibilities
from actors.users.presence import Presence
from actors.users.users import Users
from persistence.friends.links import Link
from tests.chat.play import NOW_MS, uid
from tests.friends.play import Clock


def a_link(user: str, friend: str, **fields: object) -> Link:
    values: dict[str, object] = {
        "user_id": uid(user),
        "friend_id": uid(friend),
        "favorite": False,
        "visibility": "DEFAULT",
        "note": None,
        "created_at_ms": NOW_MS,
        "accepted_at_ms": NOW_MS + 1,
        "updated_at_ms": NOW_MS + 2,
        "name": friend,
        "last_seen_at_ms": None,
        "first_day": None,
        "last_day": None,
        "last_contact_ms": None,
    }
    return Link(**{**values, **fields})  # type: ignore[arg-type]


def a_state(user: str, *friends: str, **fields: object) -> FriendsState:
    return state_of(uid(user), [a_link(user, friend, **fields) for friend in friends], ())


def a_live() -> FriendsLive:
    clock = Clock()
    users = Users(None, clock, token_bytes)  # type: ignore[arg-type]
    presence = Presence(clock)
    circles = Circles(None, presence.is_looking)  # type: ignore[arg-type]
    return FriendsLive(
        presence, users, Visibilities(), clock.now_ms, party_of=lambda _id: None, circles=circles
    )


def test_own_parts_of_the_views_that_changed_last_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(view, "ENTRIES_KEPT", 4)
    owns = OwnParts()
    states = [a_state(name, "x", "y") for name in ("ann", "ben", "cid")]
    for state in states:
        owns.keep(state)
    made = [owns.of(state) for state in states]
    assert [owns.of(state) is one for state, one in zip(states, made, strict=True)] == [False, True, True]
    changed = a_state("ben", "x", "y", favorite=True)
    assert owns.of(changed) != made[1]
    owns.keep(changed)
    assert owns.of(changed) is owns.of(changed)
    owns.forget(uid("ben"))
    owns.forget(uid("ben"))
    assert owns.of(changed) is not owns.of(changed)


def test_how_friends_look_is_encoded_anew_beyond_the_bound(monkeypatch: pytest.MonkeyPatch):
    live = a_live()
    adopt = live.view.adopt
    assert adopt is not None
    state = adopt(None, a_state("ann", "x", "y", "z"))
    whole = bytes(live.view.rendering.render(state, None))  # type: ignore[call-overload]
    assert all(friend.shown is not None for friend in state.friends)
    monkeypatch.setattr(watched_users, "ENCODED_KEPT", 1)
    other = a_live()
    again = other.view.adopt(None, a_state("ann", "x", "y", "z"))  # type: ignore[misc]
    for _ in range(2):
        assert bytes(other.view.rendering.render(again, None)) == whole  # type: ignore[call-overload]
        assert sum(friend.shown is not None for friend in again.friends) == 1


def test_a_link_is_few_bytes_whatever_it_says():
    for favorite in (False, True):
        for visibility in ("DEFAULT", "LIMITED", "HIDDEN"):
            state = a_state("ann", "x", favorite=favorite, visibility=visibility)
            assert len(state.records) == RECORD.size == 25
            assert state.favorites == favorite
    assert a_state("ann", "x").extras == {}
    assert set(a_state("ann", "x", note="met").extras) == {uid("x")}


def test_only_what_differs_from_the_default_is_remembered():
    known = Visibilities()
    known.fill(Stored([("ben", "ann", "HIDDEN"), ("cid", "ann", "LIMITED")], []))
    assert [known.of(name, "ann") for name in ("ben", "cid", "dan")] == ["HIDDEN", "LIMITED", "DEFAULT"]
    assert known.of("ann", "ben") == "DEFAULT"
    everybody = ["ann", "ben", "cid", "dan"]
    assert known.hidden_among("ann", everybody) == {"ben"}
    assert known.hidden_among("ann", ["cid"]) == set()
    assert known.hidden_among("ben", everybody) is NOBODY
    assert not known.change("ben", "ann", "HIDDEN")
    assert known.change("ben", "ann", "DEFAULT")
    assert known.change("cid", "ann", "DEFAULT")
    assert not known.change("cid", "ann", "DEFAULT")
    assert known.restrictions_for("ann") is UNRESTRICTED


def test_what_is_stored_replaces_what_is_known():
    known = Visibilities()
    first = Stored([("ben", "ann", "HIDDEN"), ("cid", "ann", "LIMITED")], [("ann", "dan")])
    second = Stored([("cid", "ann", "HIDDEN"), ("eva", "ann", "LIMITED")], [("fay", "ann")])
    assert known.fill(first) == {("ben", "ann"), ("cid", "ann"), ("ann", "dan"), ("dan", "ann")}
    assert known.fill(first) == set()
    assert known.fill(second) == {
        *(("ben", "ann"), ("cid", "ann"), ("eva", "ann")),
        *(("ann", "dan"), ("dan", "ann"), ("ann", "fay"), ("fay", "ann")),
    }
    assert known.restrictions_for("ann") == {"cid": "HIDDEN", "eva": "LIMITED"}
    assert [known.parted("ann", name) for name in ("dan", "fay")] == [False, True]


def test_a_block_parts_both_ways():
    known = Visibilities()
    assert known.part("ann", "ben", parted=True)
    assert not known.part("ben", "ann", parted=True)
    for one, other in (("ann", "ben"), ("ben", "ann")):
        assert known.of(one, other) == "HIDDEN"
        assert known.hidden_among(one, ["ann", "ben", "cid"]) == {other}
        assert known.restrictions_for(one) is UNRESTRICTED
    assert known.part("ben", "ann", parted=False)
    assert known.of("ann", "ben") == "DEFAULT"
    assert known.hidden_among("ann", ["ben"]) is NOBODY


async def test_circles_of_those_who_look_stay_when_room_is_made(monkeypatch: pytest.MonkeyPatch):
    class Store:
        async def read(self, _unit: object, user_ids: Sequence[str]) -> dict[str, list[str]]:
            return {user_id: [f"{user_id} {number}" for number in range(10)] for user_id in user_ids}

    monkeypatch.setattr(module, "FRIENDS_KEPT", 100)
    known = Circles(Store(), lambda user_id: user_id == "0")  # type: ignore[arg-type]
    for number in range(30):
        await known.learn(f"{number}")
        assert known.knows("0")
        assert len(known) <= 10
    assert known.among("0", ["0 1", "1 1"]) == {"0 1"}
    assert known.among("1", ["1 1"]) == set()
    known.changed("0", "0 1", friends=False)
    known.changed("29", "x", friends=True)
    assert known.among("0", ["0 1"]) == set()
    assert known.among("29", ["x"]) == {"x"}
