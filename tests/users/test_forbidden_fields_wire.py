"""Wire: fields that are not a client's to set are passed over, wherever they are sent (reliability §3, API3)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from actors.ids import new_uuid
from tests.capes.stage import OWN, SELECTION, texture, upload
from tests.saved_servers.play import SAVED, save_all
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.totems.models import body as totem_body
from tests.users.play import PROFILE, SHARES

SOMEBODY = new_uuid(bytes)

Prepare = Callable[[Player], Awaitable[str]]


async def nothing(_: Player) -> str:
    return ""


async def a_cape(ann: Player) -> str:
    return str((await upload(ann))["id"])


async def a_saved_server(ann: Player) -> str:
    return (await save_all(ann, f"{ann.id}.example"))[0]


@dataclass(frozen=True)
class Write:
    """A request with all that its author may say.

    Args:
        path: with `{id}` for what `prepare` has made.
        read: where the outcome is seen by its owner.
    """

    method: str
    path: str
    body: dict[str, Any]
    read: str
    prepare: Prepare = nothing


EACH_TIME = frozenset(
    {
        *("createdAt", "updatedAt", "lastUsedAt", "lastSeenAt", "expiresAt", "timestamp", "requestId"),
        *("id", "code", "itemModelId", "itemModelUrl", "previewTextureUrl", "textureUrl", "serverIds"),
        *("userId", "address", "displayName", "author", "itemModelAuthor"),
    }
)
"""What two users and two requests never have alike."""

WRITES = {
    "settings": Write(
        "PATCH", "/v1/profile/settings", {"allowFriendRequests": False}, "/v1/profile/settings"
    ),
    "share": Write("POST", SHARES, PROFILE, SHARES),
    "options": Write(
        "PUT", "/v1/profile/minecraft-options", {"options": {"fov": 90}}, "/v1/profile/minecraft-options"
    ),
    "saved server": Write("POST", SAVED, {"address": "a.example"}, SAVED),
    "favourite": Write("PATCH", f"{SAVED}/{{id}}", {"favorite": True}, SAVED, a_saved_server),
    "totem": Write("POST", "/v1/profile/personal-totem", totem_body(), "/v1/profile/personal-totem"),
    "cape": Write("POST", OWN, {"name": "Phoenix", "texture": texture()}, OWN),
    "cape's edit": Write("PATCH", f"{OWN}/{{id}}", {"name": "Ash"}, OWN, a_cape),
    "cape's withdrawal": Write("POST", f"{OWN}/{{id}}/withdraw", {}, OWN, a_cape),
    "selection": Write("PUT", SELECTION, {"source": None}, SELECTION),
}

FORBIDDEN: dict[str, Any] = {
    "userId": SOMEBODY, "ownerId": SOMEBODY, "creator": "Mojang", "status": "approved", "mine": False,
    "downloads": 10**6, "moderation": {"reason": "fine", "moderatorId": SOMEBODY, "at": "2020-01-01T00:00:00Z"},
    "selected": True, "selectedCount": 10**6, "saved": False, "savedPosition": 99, "favoriteCount": 10**6,
    "displayName": "Official", "patreon": {"linked": True, "tier": "gold"},
    "discord": {"linked": True, "username": "root"}, "supporter": {"active": True, "tier": "gold", "since": None},
    "permissions": ["*"], "highestRoleLabel": "Super Admin", "createdAt": "2000-01-01T00:00:00.000Z",
    "updatedAt": "2000-01-01T00:00:00.000Z", "expiresAt": "2100-01-01T00:00:00.000Z", "updatedAtMs": 1,
    "totalXp": 10**9, "id": SOMEBODY, "code": "AAAA-AAAA-AAAA", "approvedAt": "2000-01-01T00:00:00.000Z",
}  # fmt: skip


def without(value: Any) -> Any:
    """The value without what differs each time."""
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in EACH_TIME}
    if isinstance(value, list):
        return [without(one) for one in value]
    return value


@in_one_world("name", WRITES)
async def test_what_is_not_ones_to_set_is_passed_over(world: World, name: str) -> None:
    write = WRITES[name]
    seen = []
    for extra in ({}, FORBIDDEN):
        ann = await world.player("Ann")
        path = write.path.format(id=await write.prepare(ann))
        answer = await ann.ask(write.method, path, {**extra, **write.body})
        assert answer.status_code < 500
        shown = [answer.json(), await ann.get(write.read), await ann.get("/v1/profile/self")]
        for word in ("2000-01-01", "Official", "Mojang", "Super Admin", SOMEBODY):
            assert word not in str(shown)
        seen.append((answer.status_code, without(shown)))
    assert seen[0] == seen[1]
