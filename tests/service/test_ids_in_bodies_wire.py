"""Wire: in a body, what has no id's form is wrong at its field, while a well-formed id that names nothing is a 404."""

from actors.ids import new_uuid
from tests.connect.play import SERVERS, claimed
from tests.news.play import NEWS
from tests.party.play import gather
from tests.support.one_world import in_one_world
from tests.support.world import World, world

__all__ = ["world"]

UNKNOWN_ID, UNKNOWN = "0" * 24, new_uuid(lambda n: b"\0" * n)
SAVED, SIGN_IN = "/v1/profile/public-servers/saved", "/v1/sign-in-links"
SOCIAL, VOICE = "/v1/social", "/v1/social/voice"
ACTIVE = "/v1/versions/channels/active"
POINTER = {"scopeType": "launcher", "scopeId": "main", "channel": "stable"}
NOTICE = {"title": "Hello", "body": "text", "scope": {"type": "network", "id": ""}}


@in_one_world(
    ("method", "path", "body", "pointer", "unknown"),
    [
        ("POST", f"{SOCIAL}/friends/requests", {}, "/targetId", UNKNOWN),
        ("POST", f"{SOCIAL}/friends/blocks", {}, "/targetId", UNKNOWN),
        ("POST", f"{SOCIAL}/friends/reports", {}, "/targetId", UNKNOWN),
        ("POST", f"{SOCIAL}/party/invites", {}, "/targetId", UNKNOWN),
        ("PUT", f"{SOCIAL}/party/leader", {}, "/playerId", UNKNOWN),
        ("POST", f"{VOICE}/channels/private", {}, "/targetId", UNKNOWN),
        ("POST", f"{VOICE}/session/join", {}, "/channelId", UNKNOWN),
        ("POST", f"{VOICE}/session/sync", {}, "/sessionId", UNKNOWN_ID),
        ("POST", "/v1/quests/daily-games/reroll", {}, "/questId", UNKNOWN_ID),
        ("POST", SAVED, {}, "/serverId", UNKNOWN_ID),
        ("POST", SIGN_IN, {}, "/userId", UNKNOWN),
        ("POST", ACTIVE, POINTER, "/releaseId", UNKNOWN_ID),
        ("POST", NEWS, NOTICE, "/scope/id", UNKNOWN),
        ("PATCH", "$server", {}, "/networkId", UNKNOWN),
        ("PUT", "$room/read", {}, "/messageId", UNKNOWN_ID),
    ],
)
async def test_what_is_no_id_is_wrong_at_its_field(
    world: World, method: str, path: str, body: dict[str, object], pointer: str, unknown: str
) -> None:
    ann = await world.super_admin()
    (ben,) = await world.players("Ben")
    if path.startswith("$room"):
        path = path.replace("$room", (await ann.talk_to(ben)).path)
    elif path == "$server":
        path = f"{SERVERS}/{(await claimed(world, ann)).id}"
    elif path.endswith("/leader"):
        await gather(ann, ben)

    async def asked(id: str) -> tuple[int, list[tuple[str, str]]]:
        *outer, last = pointer.strip("/").split("/")
        filled = {**body, last: id} if not outer else {**body, outer[0]: {"type": "network", last: id}}
        answer = await ann.ask(method, path, filled)
        errors = answer.json().get("errors") or []
        return answer.status_code, [(error["pointer"], error["code"]) for error in errors]

    assert await asked("no-id") == (422, [(pointer, "BAD_FORMAT")])
    assert await asked(unknown) == (404, [])
    assert await asked(unknown.upper()) == (404, [])
