"""Wire: friend requests and what becomes of them."""

import pytest

from actors.friends.units_relations import REQUEST_TTL_MS
from actors.ids import new_uuid
from persistence.friends.requests import of_user
from tests.friends.play import FRIENDS, REQUESTS, ask, friends_of, waiting
from tests.support.jobs import jobs_of
from tests.support.one_world import in_one_world
from tests.support.world import Player, World


async def kinds(player: Player) -> list[tuple[str, str]]:
    """(kind, actor) of the player's notifications."""
    items = (await player.get("/v1/notifications"))["items"]
    return [(item["kind"], item["actorId"]) for item in items]


async def test_a_request_is_seen_by_both_and_accepted(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ask(ann, ben, note="it's me")
    assert made["player"] == {
        "id": ben.id, "name": "Ben", "online": False, "partyId": None,
        "status": {"state": "OFFLINE", "timestamp": made["createdAt"]},
    }  # fmt: skip
    assert (made["senderId"], made["recipientId"], made["direction"]) == (ann.id, ben.id, "outgoing")
    assert (made["note"], made["friend"]) == ("it's me", None)
    assert await waiting(ann) == ([], ["Ben"])
    (incoming,) = (await ben.get(REQUESTS))["incoming"]
    assert (incoming["id"], incoming["direction"]) == (made["id"], "incoming")
    assert incoming["player"]["id"] == ann.id
    assert await kinds(ben) == [("friend_request", ann.id)]

    entry = await ben.do("POST", f"{REQUESTS}/{made['id']}/accept", status=200)
    assert (entry["friendId"], entry["name"], entry["createdAt"]) == (ann.id, "Ann", made["createdAt"])
    assert (entry["favorite"], entry["visibility"], entry["note"]) == (False, "DEFAULT", None)
    assert entry["flameStreak"] is None
    assert await kinds(ann) == [("friend_accepted", ben.id)]
    assert (await friends_of(ann), await friends_of(ben)) == ({"Ben"}, {"Ann"})
    assert (await waiting(ann), await waiting(ben)) == (([], []), ([], []))
    assert await ben.refused("POST", f"{REQUESTS}/{made['id']}/accept") == (404, "NOT_FOUND")

    snapshot = await ann.get(FRIENDS)
    assert snapshot["counts"] == {"total": 1, "favorites": 0, "online": 0, "max": 250}
    assert (snapshot["self"]["id"], snapshot["self"]["name"]) == (ann.id, "Ann")


async def test_a_request_that_meets_an_opposite_one_is_a_friendship(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    first = await ask(ann, ben)
    met = await ben.do("POST", REQUESTS, {"targetId": ann.id}, status=200)
    assert (met["id"], met["direction"], met["friend"]["friendId"]) == (first["id"], "incoming", ann.id)
    assert (await friends_of(ann), await friends_of(ben)) == ({"Ben"}, {"Ann"})
    assert await kinds(ann) == [("friend_accepted", ben.id)]
    for one, other in ((ann, ben), (ben, ann)):
        assert await one.refused("POST", REQUESTS, {"targetId": other.id}) == (409, "ALREADY_FRIENDS")


async def test_a_second_request_to_the_same_user_is_refused(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await ask(ann, ben)
    assert await ann.refused("POST", REQUESTS, {"targetId": ben.id}) == (409, "REQUEST_EXISTS")
    assert await waiting(ben) == (["Ann"], [])


@in_one_world(
    ("who", "method", "way", "answer"),
    [
        ("sender", "POST", "/accept", (403, "FORBIDDEN")),
        ("sender", "POST", "/decline", (403, "FORBIDDEN")),
        ("sender", "DELETE", "", None),
        ("recipient", "POST", "/accept", None),
        ("recipient", "POST", "/decline", None),
        ("recipient", "DELETE", "", None),
        ("stranger", "POST", "/accept", (404, "NOT_FOUND")),
        ("stranger", "POST", "/decline", (404, "NOT_FOUND")),
        ("stranger", "DELETE", "", (404, "NOT_FOUND")),
    ],
)
async def test_who_may_answer(
    world: World, who: str, method: str, way: str, answer: tuple[int, str] | None
) -> None:
    players = dict(
        zip(("sender", "recipient", "stranger"), await world.players("Ann", "Ben", "Cid"), strict=True)
    )
    made = await ask(players["sender"], players["recipient"])
    path = f"{REQUESTS}/{made['id']}{way}"
    if answer is not None:
        assert await players[who].refused(method, path) == answer
        assert await waiting(players["recipient"]) == (["Ann"], [])
        return
    response = await players[who].ask(method, path)
    assert response.status_code == (200 if way == "/accept" else 204)
    assert await friends_of(players["sender"]) == ({"Ben"} if way == "/accept" else set())
    assert await waiting(players["recipient"]) == ([], [])
    assert await players["recipient"].refused(method, path) == (404, "NOT_FOUND")
    assert ("friend_accepted", players["recipient"].id) not in (
        [] if way == "/accept" else await kinds(players["sender"])
    )


async def test_a_request_expires_after_thirty_days(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ask(ann, ben, note="old")
    world.clock.advance(REQUEST_TTL_MS - 60_000)
    for player in (ann, ben):
        player.headers = {"authorization": f"Bearer {world.token(player.id, player.name)}"}
    assert await waiting(ben) == (["Ann"], [])
    world.clock.advance(60_001)
    assert (await waiting(ann), await waiting(ben)) == (([], []), ([], []))
    assert await ben.refused("POST", f"{REQUESTS}/{made['id']}/accept") == (404, "NOT_FOUND")
    # Neither does it stand in the way of a new one, of either.
    anew = await ask(ann, ben)
    assert (anew["id"] != made["id"], anew["note"]) == (True, None)
    assert await waiting(ben) == (["Ann"], [])


async def test_expired_rows_are_swept(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await ask(ann, ben)
    (job,) = [job for job in jobs_of(world.service) if job.name == "friend requests that expire"]
    for days_later, left in ((0, 1), (30, 0)):
        world.clock.advance(days_later * 24 * 3600 * 1000)
        await job.run()
        # As of the beginning, whatever has a row is there.
        assert len(await world.service.database.read(of_user, ben.id, 0)) == left


async def test_requests_that_are_refused(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    unknown = new_uuid(lambda n: b"\0" * n)
    assert await ann.refused("POST", REQUESTS, {"targetId": ann.id}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", REQUESTS, {"targetName": "ann"}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", REQUESTS, {}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", REQUESTS, {"targetId": ben.id, "note": "x" * 301}) == (
        422,
        "VALIDATION_FAILED",
    )
    assert await ann.refused("POST", REQUESTS, {"targetId": "ben"}) == (422, "VALIDATION_FAILED")
    for target in ({"targetId": unknown}, {"targetName": "Nobody"}):
        assert await ann.refused("POST", REQUESTS, target) == (404, "NOT_FOUND")
    await ben.do("PATCH", "/v1/profile/settings", {"allowFriendRequests": False})
    assert await ann.refused("POST", REQUESTS, {"targetId": ben.id}) == (403, "FRIEND_REQUESTS_DISABLED")
    # Who takes none may ask, and whom they ask may meet them.
    await ask(ben, ann)
    await ann.do("POST", REQUESTS, {"targetId": ben.id}, status=200)


async def test_a_name_must_be_one_users_and_gives_way_to_an_id(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    assert (await ann.do("POST", REQUESTS, {"targetName": "bEN"}, status=201))["recipientId"] == ben.id
    await world.player("ben")
    assert await ann.refused("POST", REQUESTS, {"targetName": "Ben"}) == (404, "NOT_FOUND")
    both = {"targetId": ben.id, "targetName": "ignored"}
    assert await ann.refused("POST", REQUESTS, both) == (409, "REQUEST_EXISTS")


async def test_a_repeated_request_is_answered_once(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    headers = {"idempotency-key": "k1"}
    first = await ann.ask("POST", REQUESTS, {"targetId": ben.id}, headers=headers)
    again = await ann.ask("POST", REQUESTS, {"targetId": ben.id}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert again.headers["idempotent-replayed"] == "true"
    # The effect of the opposite one has another status, and that is kept too.
    met = [await ben.ask("POST", REQUESTS, {"targetId": ann.id}, headers=headers) for _ in range(2)]
    assert [response.status_code for response in met] == [200, 200]
    assert await kinds(ann) == [("friend_accepted", ben.id)]


@in_one_world("way", ["accept", "decline"])
async def test_an_answer_that_got_lost_is_given_again(world: World, way: str) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    path = f"{REQUESTS}/{(await ask(ann, ben))['id']}/{way}"
    headers = {"idempotency-key": "k1"}
    for player, refusal in ((ann, (403, "FORBIDDEN")), (cid, (404, "NOT_FOUND"))):
        response = await player.ask("POST", path, headers=headers)
        assert (response.status_code, response.json()["code"]) == refusal
    first, again = [await ben.ask("POST", path, headers=headers) for _ in range(2)]
    assert first.status_code == (200 if way == "accept" else 204)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert len(await kinds(ann)) == (1 if way == "accept" else 0), "it has happened once"
    # Under no key, or another, the request is gone.
    assert await ben.refused("POST", path) == (404, "NOT_FOUND")
    for player, key in ((ben, "k2"), (cid, "k1")):
        assert (await player.ask("POST", path, headers={"idempotency-key": key})).status_code == 404


@pytest.mark.one_node(because="it counts to the last token")
async def test_requests_have_a_rate_of_their_own(world: World) -> None:
    ann = await world.player("Ann")
    world.clock.stop()
    for _ in range(20):
        assert await ann.refused("POST", REQUESTS, {}) == (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", REQUESTS, {}) == (429, "RATE_LIMITED")
