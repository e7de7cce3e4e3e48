"""Wire: every state, every verb, every role. The expectations come from the table of moves."""

from actors.capes.moves import OWNER_MOVES, Verb
from tests.capes.stage import ADMIN, OWN, PUBLIC, STATES, cape_in, moderator, texture, upload
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

VERDICTS = ("private", "pending", "approved", "blocked")


def request_of(verb: Verb, id: str) -> tuple[str, str, object]:
    return {
        Verb.EDIT: ("PATCH", f"{OWN}/{id}", {"name": "Edited", "texture": texture(10)}),
        Verb.SUBMIT: ("POST", f"{OWN}/{id}/submit", None),
        Verb.WITHDRAW: ("POST", f"{OWN}/{id}/withdraw", None),
        Verb.DELETE: ("DELETE", f"{OWN}/{id}", None),
    }[verb]


@in_one_world("state", STATES)
async def test_owners_move_as_the_table_says(world: World, state: str):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    for verb in Verb:
        made = await cape_in(state, ann, mod)
        request = request_of(verb, made["id"])
        # To everybody else the cape is not there, whatever its state, moderators included.
        for other in (ben, mod):
            assert await other.refused(*request) == (404, "NOT_FOUND")
        assert await world.nobody().refused(*request) == (401, "UNAUTHENTICATED")
        path = f"{OWN}/{made['id']}"
        assert await ann.get(path) == made
        if verb not in OWNER_MOVES[state]:  # type: ignore[index]
            assert await ann.refused(*request) == (409, "INVALID_STATE")
            assert await ann.get(path) == made
            continue
        after = OWNER_MOVES[state][verb]  # type: ignore[index]
        answer = await ann.do(*request)
        if after is None:
            assert answer is None
            assert await ann.refused("GET", path) == (404, "NOT_FOUND")
        else:
            assert answer["status"] == after
            assert await ann.get(path) == answer


@in_one_world("state", STATES)
async def test_moderators_give_every_verdict_in_every_state(world: World, state: str):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    for verdict in VERDICTS:
        made = await cape_in(state, ann, mod)
        path, body = f"{ADMIN}/{made['id']}", {"status": verdict, "reason": "looked at"}
        for other in (ann, ben):
            assert await other.refused("PATCH", path, body) == (403, "FORBIDDEN")
            assert await other.refused("DELETE", path) == (403, "FORBIDDEN")
        judged = await mod.do("PATCH", path, body, status=200)
        assert (judged["status"], judged["ownerId"], judged["mine"]) == (verdict, ann.id, False)
        assert {**judged["moderation"], "at": None} == {
            "reason": "looked at", "moderatorId": mod.id, "at": None,
        }  # fmt: skip
        seen = await ann.get(f"{OWN}/{made['id']}")
        assert (seen["status"], seen["moderation"]) == (verdict, judged["moderation"])
        public = await world.nobody().ask("GET", f"{PUBLIC}/{made['id']}")
        assert public.status_code == (200 if verdict == "approved" else 404)


# {role: (owner's verbs, a moderator's verdict, a moderator's deletion)}; None = as the table of moves has it
ROLES: dict[str, tuple[int | None, int, int]] = {
    "nobody": (401, 401, 401),
    "stranger": (404, 403, 403),
    "owner": (None, 403, 403),
    "moderator": (404, 200, 204),
    "super-admin": (404, 200, 204),
    "owner and moderator": (None, 403, 403),
    "owner and super-admin": (None, 200, 204),
}


def status_of(state: str, verb: Verb) -> int:
    """What the owner is answered."""
    moves = OWNER_MOVES[state]  # type: ignore[index]
    if verb not in moves:
        return 409
    return 204 if moves[verb] is None else 200


@in_one_world("role", ROLES)
@in_one_world("state", STATES)
async def test_who_may_do_what_in_which_state(world: World, state: str, role: str):
    own, verdict, deletion = ROLES[role]
    ann, mod = await world.player("Ann"), await moderator(world)
    match role:
        case "nobody":
            asking = world.nobody()
        case "stranger":
            asking = await world.player("Ben")
        case "owner":
            asking = ann
        case "moderator":
            asking = mod
        case _:
            asking = await world.super_admin()
    if role == "owner and moderator":
        ann = asking = await moderator(world)
    elif role == "owner and super-admin":
        ann = asking
    calls = [(request_of(verb, "{}"), own or status_of(state, verb)) for verb in Verb]
    calls.append((("PATCH", f"{ADMIN}/{{}}", {"status": "blocked"}), verdict))
    calls.append((("DELETE", f"{ADMIN}/{{}}", None), deletion))
    for (method, path, body), expected in calls:
        made = await cape_in(state, ann, mod)
        response = await asking.ask(method, path.format(made["id"]), body)
        assert response.status_code == expected, (method, path)
        if response.status_code >= 400:
            assert await ann.get(f"{OWN}/{made['id']}") == made


@in_one_world("body", [{"status": "draft"}, {"status": "gone"}, {"reason": "x" * 501}, {"name": " "}])
async def test_verdicts_that_are_none(world: World, body: dict[str, str]):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await upload(ann)
    assert await mod.refused("PATCH", f"{ADMIN}/{made['id']}", body) == (422, "VALIDATION_FAILED")


async def test_a_reason_goes_with_its_verdict(world: World):
    """An approved cape does not go on saying why it was blocked, nor does the owner's notification."""
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("pending", ann, mod)
    path, own = f"{ADMIN}/{made['id']}", f"{OWN}/{made['id']}"
    await mod.do("PATCH", path, {"status": "blocked", "reason": "too dark"})
    renamed = await mod.do("PATCH", path, {"name": "Night", "status": "blocked"})
    assert renamed["moderation"]["reason"] == "too dark"
    approved = await mod.do("PATCH", path, {"status": "approved"})
    assert approved["moderation"]["reason"] is None
    assert (await ann.get(own))["moderation"] == approved["moderation"]
    newest = (await ann.get("/v1/notifications"))["items"][0]
    assert (newest["data"]["status"], newest["data"]["reason"]) == ("approved", None)
    await mod.do("PATCH", path, {"reason": "well made"})
    assert (await ann.get(own))["moderation"]["reason"] == "well made"


async def test_nobody_judges_their_own(world: World):
    mod, root = await moderator(world), await world.super_admin()
    path = f"{ADMIN}/{(await upload(mod))['id']}"
    assert await mod.refused("PATCH", path, {"status": "approved"}) == (403, "FORBIDDEN")
    assert await mod.refused("DELETE", path) == (403, "FORBIDDEN")
    own = await upload(root)
    assert (await root.do("PATCH", f"{ADMIN}/{own['id']}", {"status": "approved"}))["mine"]


async def test_a_moderator_judges_what_they_looked_at(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = await cape_in("pending", ann, mod)
    seen = (await mod.get(ADMIN, status="pending"))["entries"][0]
    await ann.do("POST", f"{OWN}/{made['id']}/withdraw")
    await ann.do("PATCH", f"{OWN}/{made['id']}", {"texture": texture(1)})
    await ann.do("POST", f"{OWN}/{made['id']}/submit")
    verdict = {"status": "approved", "textureVersion": seen["textureVersion"]}
    assert await mod.refused("PATCH", f"{ADMIN}/{made['id']}", verdict) == (409, "INVALID_STATE")
    seen = (await mod.get(ADMIN, status="pending"))["entries"][0]
    verdict["textureVersion"] = seen["textureVersion"]
    await mod.do("PATCH", f"{ADMIN}/{made['id']}", verdict)


async def test_the_owner_hears_of_it_and_the_trail_keeps_it(world: World):
    ann, mod, root = await world.player("Ann"), await moderator(world), await world.super_admin()
    made = await cape_in("pending", ann, mod)
    path = f"{ADMIN}/{made['id']}"
    await mod.do("PATCH", path, {"status": "blocked", "reason": "not yours"})
    await mod.do("PATCH", path, {"status": "blocked"})  # says nothing new
    await mod.do("PATCH", path, {})
    assert await mod.do("DELETE", path, status=204) is None
    notices = (await ann.get("/v1/notifications"))["items"]
    assert [(one["kind"], one["actorId"], one["data"]["status"]) for one in notices] == [
        ("cape_moderated", mod.id, "deleted"), ("cape_moderated", mod.id, "blocked"),
    ]  # fmt: skip
    assert notices[1]["data"] == {
        "capeId": made["id"], "name": "Phoenix", "status": "blocked", "reason": "not yours",
    }  # fmt: skip
    trail = [line for line in (await root.get("/v1/admin/audit"))["items"] if "cape" in line["action"]]
    assert [(line["action"], line["actorId"], line["targetId"]) for line in trail] == [
        ("cape.deleted", mod.id, ann.id), ("cape.moderated", mod.id, ann.id),
    ]  # fmt: skip
    assert await mod.refused("PATCH", path, {"status": "approved"}) == (404, "NOT_FOUND")


async def test_the_node_and_not_the_role_decides(world: World):
    ann, ben, mod = await world.player("Ann"), await world.player("Ben"), await moderator(world)
    made = await upload(ann)
    await world.grant(ben, "capes:moderate")
    await world.grant(mod, "capes:moderate", negated=True)
    assert await mod.refused("GET", ADMIN) == (403, "FORBIDDEN")
    assert (await ben.get(ADMIN))["entries"][0]["id"] == made["id"]


async def listed(player: Player, status: str) -> list[str]:
    return [one["id"] for one in (await player.get(ADMIN, status=status))["entries"]]


async def test_the_moderators_list(world: World):
    ann, mod = await world.player("Ann"), await moderator(world)
    made = {state: await cape_in(state, ann, mod) for state in STATES}
    for state in STATES:
        assert await listed(mod, state) == [made[state]["id"]]
    page = await mod.get(ADMIN, limit=2, offset=1)
    assert [one["status"] for one in page["entries"]] == ["private", "approved"]
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    await ann.do("DELETE", f"{OWN}/{made['approved']['id']}")
    assert (await mod.get(ADMIN))["total"] == 4
    assert (await mod.get(ADMIN, offset=9)) == {"entries": [], "total": 4, "limit": 50, "offset": 9}
    assert await mod.refused("GET", f"{ADMIN}?status=odd") == (400, "BAD_QUERY")
