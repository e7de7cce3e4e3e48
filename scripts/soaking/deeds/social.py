"""Friends, blocks, parties and notifications."""

from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene

FRIENDS, PARTY = "/v1/social/friends", "/v1/social/party"


async def befriend_and_part(scene: Scene, asker: Asker) -> None:
    """A request, its acceptance, and the end of the friendship."""
    one, other = scene.two()
    body = {"targetId": other.id}
    asked = await asker.ask("social/ask friend", "POST", f"{FRIENDS}/requests", one.token, body)
    await asker.ask("social/accept friend", "POST", f"{FRIENDS}/requests/{asked['id']}/accept", other.token)
    await asker.ask("social/remove friend", "DELETE", f"{FRIENDS}/{other.id}", one.token)


async def block_and_unblock(scene: Scene, asker: Asker) -> None:
    """A block that does not last; between users of no common room, or their messages would be refused."""
    one = scene.someone()
    await asker.ask("social/block", "POST", f"{FRIENDS}/blocks", one.token, {"targetId": scene.root.id})
    await asker.ask("social/unblock", "DELETE", f"{FRIENDS}/blocks/{scene.root.id}", one.token)


async def play(scene: Scene, asker: Asker) -> None:
    """A party of two that chooses, gets ready, and ends."""
    leader, guest = scene.two()
    made = await asker.ask("social/found party", "POST", PARTY, leader.token)
    party_id = made["party"]["id"]
    await asker.ask("social/invite", "POST", f"{PARTY}/invites", leader.token, {"targetId": guest.id})
    await asker.ask("social/accept invite", "POST", f"{PARTY}/invites/{party_id}/accept", guest.token)
    selection = {"targetKind": "server", "targetId": "hub", "displayName": "Hub"}
    await asker.ask("social/select", "PUT", f"{PARTY}/lobby/selection", leader.token, selection)
    is_ready = {"ready": True, "profilePrepared": True}
    await asker.ask("social/ready", "PUT", f"{PARTY}/lobby/ready", guest.token, is_ready)
    for user in (guest, leader):
        await asker.ask("social/leave party", "POST", f"{PARTY}/leave", user.token)


async def catch_up(scene: Scene, asker: Asker) -> None:
    """The notifications, all marked as read."""
    user = scene.someone()
    page = await asker.ask("social/notifications", "GET", "/v1/notifications", user.token)
    ids = [item["id"] for item in page["items"]]
    if ids:
        await asker.ask("social/read all", "POST", "/v1/notifications/read", user.token, {"ids": ids})


SOCIAL = (
    Deed(4, reading("social/friends", FRIENDS)),
    Deed(2, befriend_and_part),
    Deed(1, block_and_unblock),
    Deed(2, play),
    Deed(3, catch_up),
)
