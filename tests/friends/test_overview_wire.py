"""Wire: who sees whose friends, and how much of them."""

from typing import Any

import pytest

from actors.ids import new_uuid
from tests.friends.play import BLOCKS, FRIENDS, REQUESTS, ask, become, make_friends
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

DENIED = (403, "VISIBILITY_DENIED")


def overview(user: Player) -> str:
    return f"/v1/users/{user.id}/friends"


def named(shown: Any) -> dict[str, Any]:
    """{name: entry} of an overview's friends."""
    return {friend["name"]: friend for friend in shown["friends"]}


async def choose(holder: Player, friend: Player, visibility: str) -> None:
    await holder.do("PATCH", f"{FRIENDS}/{friend.id}", {"visibility": visibility}, status=200)


@in_one_world(
    ("relation", "sees"),
    [
        ("friend", True),
        ("admin", True),
        ("stranger", False),
        ("former friend", False),
        ("has asked", False),
        ("was asked", False),
        ("blocked friend", False),
        ("blocking", False),
    ],
)
async def test_who_sees_a_users_friends(world: World, relation: str, sees: bool) -> None:
    tom, amy, viewer = await world.players("Tom", "Amy", "Viewer")
    await make_friends(tom, amy)
    await become(world, relation, viewer, tom)
    if not sees:
        assert await viewer.refused("GET", overview(tom)) == DENIED
        # The same as of somebody who is not there.
        there, nowhere = [
            await viewer.ask("GET", f"/v1/users/{id}/friends")
            for id in (tom.id, new_uuid(lambda n: b"\1" * n))
        ]
        differing = {key for key, value in there.json().items() if nowhere.json()[key] != value}
        assert (there.status_code, differing) == (nowhere.status_code, {"requestId"})
        return
    assert "Amy" in named(await viewer.get(overview(tom)))


@pytest.mark.one_node(because="when somebody was last seen is up to a minute old on other nodes")
async def test_oneself_and_admins_see_everything(world: World) -> None:
    tom, amy, ben, cid, admin = await world.players("Tom", "Amy", "Ben", "Cid", "Admin")
    await make_friends(tom, amy)
    await tom.do("PATCH", f"{FRIENDS}/{amy.id}", {"note": "guild", "favorite": True, "visibility": "HIDDEN"})
    await ask(tom, ben)
    await ask(cid, tom)
    await world.grant(admin, "admin:user:view")
    own, seen = await tom.get(overview(tom)), await admin.get(overview(tom))
    assert own == seen
    assert set(own) == {"friends", "counts", "self", "incoming", "outgoing", "requests"}
    (entry,) = own["friends"]
    assert (entry["name"], entry["note"], entry["visibility"]) == ("Amy", "guild", "HIDDEN")
    assert own["counts"] == {"total": 1, "favorites": 1, "online": 0, "max": 250}
    assert own["self"]["id"] == tom.id
    assert own["requests"] == {"incoming": own["incoming"], "outgoing": own["outgoing"]}
    assert [one["senderId"] for one in own["incoming"]] == [cid.id]
    assert [one["recipientId"] for one in own["outgoing"]] == [ben.id]
    assert await admin.refused("GET", f"/v1/users/{new_uuid(bytes)}/friends") == (
        404,
        "NOT_FOUND",
    )
    assert await admin.refused("GET", "/v1/users/nonsense/friends") == (404, "NOT_FOUND")


async def test_what_a_friend_sees(world: World) -> None:
    tom, amy, ben, viewer = await world.players("Tom", "Amy", "Ben", "Viewer")
    for friend in (amy, ben, viewer):
        await make_friends(tom, friend)
    chosen = {"note": "secret", "visibility": "LIMITED", "favorite": True}
    await tom.do("PATCH", f"{FRIENDS}/{amy.id}", chosen)
    await choose(tom, ben, "HIDDEN")
    await ask(await world.player("Cid"), tom)
    async with amy.live(), ben.live(), viewer.live():
        shown = await viewer.get(overview(tom))
    friends = named(shown)
    # Ben, from whom Tom hides, does not show, and nothing of what Tom has written or chosen.
    assert set(friends) == {"Amy", "Viewer"}
    hidden = ("note", "visibility", "favorite", "flameStreak")
    assert {tuple(one[name] for name in hidden) for one in friends.values()} == {
        (None, "DEFAULT", False, None)
    }
    assert all(one["updatedAt"] == one["acceptedAt"] for one in friends.values())
    assert shown["counts"] == {"total": 2, "favorites": 0, "online": 2, "max": 250}
    assert (shown["requests"], shown["incoming"], shown["outgoing"]) == (
        {"incoming": [], "outgoing": []},
        [],
        [],
    )
    # Amy is a stranger to who looks, and so shows no more than being online.
    assert (friends["Amy"]["online"], friends["Amy"]["lastSeenAt"], friends["Amy"]["partyId"]) == (
        True,
        None,
        None,
    )
    assert friends["Viewer"]["lastSeenAt"] is not None
    assert (shown["self"]["id"], shown["self"]["online"]) == (tom.id, False)


@in_one_world("hidden_from", ["tom", "viewer", "nobody"])
async def test_who_hides_is_hidden_in_the_lists_of_others(world: World, hidden_from: str) -> None:
    tom, amy, viewer = await world.players("Tom", "Amy", "Viewer")
    for one, other in ((tom, amy), (tom, viewer), (viewer, amy)):
        await make_friends(one, other)
    if hidden_from != "nobody":
        await choose(amy, {"tom": tom, "viewer": viewer}[hidden_from], "HIDDEN")
    async with amy.live():
        shown = await viewer.get(overview(tom))
        own = named(await viewer.get(FRIENDS))["Amy"]
    entry = named(shown)["Amy"]
    visible = hidden_from == "nobody"
    assert (entry["online"], entry["player"]["online"]) == (visible, visible)
    assert (entry["lastSeenAt"] is not None) == visible
    assert shown["counts"]["online"] == int(visible)
    assert own["online"] is (hidden_from != "viewer")


async def test_the_friend_of_a_friend_who_is_blocked_does_not_show(world: World) -> None:
    tom, amy, viewer = await world.players("Tom", "Amy", "Viewer")
    await make_friends(tom, amy)
    await make_friends(tom, viewer)
    assert set(named(await viewer.get(overview(tom)))) == {"Amy", "Viewer"}
    await amy.do("POST", BLOCKS, {"targetId": viewer.id})
    assert set(named(await viewer.get(overview(tom)))) == {"Viewer"}
    assert set(named(await amy.get(overview(tom)))) == {"Amy"}


async def test_the_overview_needs_the_node(world: World) -> None:
    tom = await world.player("Tom")
    await world.grant(tom, "social:friends.read", negated=True)
    for path in (overview(tom), FRIENDS, REQUESTS, BLOCKS):
        assert await tom.refused("GET", path) == (403, "FORBIDDEN")
