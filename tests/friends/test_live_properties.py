"""What holds for every history of friendships and presence.

A view kept up to date equals one loaded anew to the byte, a client that takes the events equals one that takes
snapshots, and nobody is told of what does not show to them.
"""

from collections import Counter
from secrets import token_bytes
from typing import Any

import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from actors.friends.between import seen_between
from actors.friends.circles import Circles
from actors.friends.live import FriendsLive
from actors.friends.view import FACE, FriendsState
from actors.friends.visibility import Visibilities
from actors.users.presence import Presence
from actors.users.users import Users
from persistence.bridge.database import Database
from persistence.friends import links, requests
from persistence.friends.visibilities import veiled
from persistence.users.users import arrive
from tests.chat.play import uid
from tests.friends import rows
from tests.friends.play import NOW_MS, Clock
from tests.support.database import lent_database
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM

NAMES = ("ann", "ben", "cid", "dan")
PAIRS = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda pair: pair[0] != pair[1])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["befriend", "befriend", "unfriend", "request", "withdraw"]), PAIRS),
    st.tuples(st.just("choose"), PAIRS, st.sampled_from(["DEFAULT", "LIMITED", "HIDDEN"]), st.booleans()),
    st.tuples(
        st.sampled_from(["online", "offline", "move", "rename", "watch", "leave"]), st.sampled_from(NAMES)
    ),
)


class Circle:
    """Four users, their rows, and the views of those who look."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = Clock()
        self.presence = Presence(self.clock)
        self.users = Users(database, self.clock, token_bytes)
        self.visibilities = Visibilities()
        self.parties: dict[str, str] = {}
        self.live = self.make()
        self.live.follow(self.touched, self.touched, lambda _view, _source: None)
        self.states: dict[str, FriendsState] = {}
        self.clients: dict[str, Any] = {}
        self.dirty: dict[str, dict[str, None]] = {}
        self.number = 0

    def make(self) -> FriendsLive:
        return FriendsLive(
            self.presence,
            self.users,
            self.visibilities,
            lambda: NOW_MS,
            party_of=self.parties.get,
            circles=Circles(self.database, self.presence.is_looking),
        )

    def touched(self, _view: object, ids: Any, source: str) -> None:
        for id in ids:
            if id in self.states:
                self.dirty.setdefault(id, {})[source] = None

    async def do(self, step: Any) -> None:
        self.number += 1
        self.clock.at_ms += 20_000
        if isinstance(step[1], str):
            await self.alone(step[0], uid(step[1]))
        else:
            await self.between(step[0], uid(step[1][0]), uid(step[1][1]), *step[2:])

    async def alone(self, what: str, id: str) -> None:
        match what:
            case "online" if not self.presence.is_online(id):
                self.presence.opened(id)
            case "offline" if self.presence.is_online(id):
                self.presence.closed(id)
                self.clock.at_ms += 20_000
                self.presence.tick()
            case "move":
                self.parties[id] = f"party {self.number}"
                self.live.party_changed(id)
            case "rename":
                name = f"name {self.number}"
                await self.users.arrive(id, name, self.clock.at_ms // 1000)
            case "watch" if id not in self.states:
                state = await self.database.read(self.live.view.load, id)
                self.states[id] = adopted(self.live, None, state)
                self.clients[id] = self.frame(id)
            case "leave" if id in self.states:
                assert self.live.view.release is not None
                self.live.view.release(self.states.pop(id))
                self.dirty.pop(id, None)

    async def between(self, what: str, one: str, other: str, *chosen: Any) -> None:
        transact, now_ms = self.database.transact, self.clock.at_ms
        friends = other in (await self.database.read(links.friend_ids, [one]))[one]
        match what:
            case "befriend" if not friends:
                await transact(rows.befriend, one, other, now_ms)
                await self.related(one, other)
            case "unfriend":
                await transact(links.remove, one, other)
                await self.related(one, other)
            case "choose" if friends:
                await transact(rows.choose, one, other, *chosen, now_ms)
                self.live.visibility_changed(one, other, chosen[0])
            case "withdraw":
                await transact(requests.remove_between, one, other)
            case "request":
                await transact(requests.remove_between, one, other)
                await transact(rows.request, f"{self.number:024x}", one, other, now_ms, now_ms + 10**9)
        self.live.changed(one, other)

    async def related(self, one: str, other: str) -> None:
        """What the rules do when something between two has begun or ended."""
        seen = await self.database.transact(seen_between, one, other)
        self.live.relation_changed(one, other, seen.between, seen.turn)

    async def flush(self) -> None:
        """What the kernel does with a view that has changed."""
        view = self.live.view
        for id, dirty in self.dirty.items():
            before = self.states[id]
            state, unknown = view.take(before, dirty.keys(), lambda _kind, _id: None)
            if unknown:
                state = view.absorb(state, await self.database.read(view.reread, id, unknown))
            state = self.states[id] = adopted(self.live, before, state)
            assert view.events is not None
            for event in view.events(before, state, dirty.keys()):
                told = view.rendering.render_event(state, event, None)
                if told is not None:
                    assert event.journaled == (told.event != "presence")
                    take(self.clients[id], told.event, msgspec.json.decode(bytes(told.data)))
        self.dirty = {}

    def frame(self, id: str) -> Any:
        return msgspec.json.decode(bytes(self.live.view.rendering.render(self.states[id], None)))

    async def check(self) -> None:
        """Every view equals one that is loaded anew, and every client equals the view."""
        load_many = self.live.view.load_many
        assert load_many is not None
        loaded = await self.database.read(load_many, list(self.states))
        for id, state in self.states.items():
            anew = self.make()
            fresh = adopted(anew, None, loaded[id])
            assert bytes(anew.view.rendering.render(fresh, None)) == bytes(
                self.live.view.rendering.render(state, None)
            )
            shown = self.frame(id)
            assert order(self.clients[id]) == order(shown)
            assert shown["counts"]["online"] == sum(one["online"] for one in shown["friends"])
            for friend in shown["friends"]:
                online = self.presence.is_online(friend["friendId"]) and not self.live.hides(
                    friend["friendId"], id
                )
                seen = self.live.appearance(friend["friendId"], id)
                assert (friend["online"], friend["player"]["online"], seen.online) == (online,) * 3
        watched = Counter(friend.id for state in self.states.values() for friend in state.friends)
        assert self.live.statistics() == len(watched)
        assert dict(Counter(await self.database.read(veiled))) == {
            (holder, viewer, restriction): 1
            for viewer in map(uid, NAMES)
            for holder, restriction in self.visibilities.restrictions_for(viewer).items()
        }


def adopted(live: FriendsLive, before: FriendsState | None, after: FriendsState) -> FriendsState:
    assert live.view.adopt is not None
    return live.view.adopt(before, after)


def take(client: Any, event: str, data: Any) -> None:
    """What a client does with an event."""
    friends = {one["friendId"]: one for one in client["friends"]}
    requests = {one["id"]: one for side in client["requests"].values() for one in side}
    match event:
        case "presence":
            friends[data["friendId"]].update(data)
        case "friend_added":
            friends[data["friendId"]] = data
        case "friend_removed":
            del friends[data["friendId"]]
        case "request_added":
            requests[data["id"]] = data
        case "request_removed":
            del requests[data["id"]]
    client["friends"] = list(friends.values())
    for side in ("incoming", "outgoing"):
        client["requests"][side] = [one for one in requests.values() if one["direction"] == side]
    client["counts"] = {
        "total": len(friends),
        "favorites": sum(one["favorite"] for one in friends.values()),
        "online": sum(one["online"] for one in friends.values()),
    }


def order(client: Any) -> Any:
    """A snapshot without the order of its lists."""
    requests = {side: sorted(one, key=lambda r: r["id"]) for side, one in client["requests"].items()}
    friends = sorted(client["friends"], key=lambda friend: friend["friendId"])
    return {"friends": friends, "requests": requests, "counts": client["counts"]}


PARTED_AND_MET_AGAIN = [
    [("befriend", ("ann", "ben")), ("befriend", ("ann", "cid"))],
    [("unfriend", ("ann", "ben")), ("befriend", ("ann", "ben"))],
]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@example(PARTED_AND_MET_AGAIN)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=5, max_size=15))
async def test_views_stay_what_they_would_be(postgres_server: str, turns: list[list[Any]]):
    with lent_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            circle = Circle(database)
            await circle.users.open()
            for name in NAMES:
                await database.transact(
                    lambda conn, n=name: arrive(conn, uid(n), n, issued_at_s=1, now_ms=NOW_MS)
                )
            for name in NAMES[:2]:
                await circle.alone("watch", uid(name))
            for turn in turns:
                for step in turn:
                    await circle.do(step)
                await circle.flush()
                await circle.check()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=5, max_size=25))
async def test_nobody_is_told_of_what_does_not_show(postgres_server: str, steps: list[Any]):
    with lent_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            circle = Circle(database)
            await circle.users.open()
            for name in NAMES:
                await database.transact(
                    lambda conn, n=name: arrive(conn, uid(n), n, issued_at_s=1, now_ms=NOW_MS)
                )
            for pair in (("ann", "ben"), ("ann", "cid"), ("ben", "cid")):
                await circle.between("befriend", uid(pair[0]), uid(pair[1]))
            for name in NAMES[:2]:
                await circle.alone("watch", uid(name))
            for step in steps:
                await circle.flush()
                shown = {id: circle.frame(id) for id in circle.states}
                await circle.do(step)
                appeared = {
                    id
                    for id, dirty in circle.dirty.items()
                    if any(source.startswith(FACE) for source in dirty)
                }
                if step[0] in ("online", "offline", "move", "rename"):
                    changed = {id for id in circle.states if circle.frame(id) != shown.get(id)}
                    assert appeared == changed


async def test_a_face_is_shared_and_kept_as_long_as_it_is_watched(database: Database):
    circle = Circle(database)
    for name in NAMES:
        await database.transact(lambda conn, n=name: arrive(conn, uid(n), n, issued_at_s=1, now_ms=NOW_MS))
    await circle.between("befriend", uid("ann"), uid("cid"))
    await circle.between("befriend", uid("ben"), uid("cid"))
    await circle.alone("watch", uid("ann"))
    await circle.alone("watch", uid("ben"))
    (anns,), (bens,) = circle.states[uid("ann")].friends, circle.states[uid("ben")].friends
    assert anns is bens
    assert circle.live.statistics() == 1
    await circle.alone("leave", uid("ann"))
    assert circle.live.statistics() == 1
    await circle.alone("leave", uid("ben"))
    assert circle.live.statistics() == 0
    # Whom nobody watches costs nobody anything.
    circle.presence.opened(uid("cid"))
    assert circle.dirty == {}
