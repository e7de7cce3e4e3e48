"""Conversations: messages, polls and files beside the messages that the ledger accounts for."""

import base64

from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene

ATTACHMENT_BYTES = 4096


async def read_back(scene: Scene, asker: Asker) -> None:
    """Read a page of messages, and mark its last one as read."""
    room = scene.rng.choice(scene.rooms)
    user = scene.rng.choice(room.members)
    page = await asker.ask("chat/messages", "GET", f"{room.path}/messages?limit=50", user.token)
    if page["items"]:
        body = {"messageId": page["items"][-1]["id"]}
        await asker.ask("chat/mark read", "PUT", f"{room.path}/read", user.token, body)


async def change_and_remove(scene: Scene, asker: Asker) -> None:
    """A message that is edited and removed."""
    room = scene.rng.choice(scene.scratch)
    user = scene.rng.choice(room.members)
    made = await asker.ask("chat/post", "POST", f"{room.path}/messages", user.token, {"content": "a draft"})
    path = f"{room.path}/messages/{made['id']}"
    await asker.ask("chat/edit", "PATCH", path, user.token, {"content": "an edition"})
    await asker.ask("chat/remove", "DELETE", path, user.token)


async def vote(scene: Scene, asker: Asker) -> None:
    """A poll in which both vote, and which is closed."""
    room = scene.rng.choice(scene.scratch)
    one, other = room.members
    poll = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}], "expiresInSeconds": 3600}
    made = await asker.ask("chat/post", "POST", f"{room.path}/messages", one.token, {"poll": poll})
    path = f"{room.path}/messages/{made['id']}/poll"
    options = [option["id"] for option in made["poll"]["options"]]
    for voter in (one, other):
        await asker.ask(
            "chat/vote", "POST", f"{path}/vote", voter.token, {"optionIds": [scene.rng.choice(options)]}
        )
    await asker.ask("chat/close poll", "POST", f"{path}/close", one.token)


async def attach(scene: Scene, asker: Asker) -> None:
    """Upload a file and read it; no message uses it, so the service removes it a day later."""
    room = scene.rng.choice(scene.scratch)
    user = scene.rng.choice(room.members)
    data = base64.b64encode(scene.rng.randbytes(ATTACHMENT_BYTES)).decode()
    body = {"fileName": "a.bin", "contentType": "application/octet-stream", "dataBase64": data}
    made = await asker.ask("chat/attach", "POST", f"{room.path}/attachments", user.token, body)
    await asker.ask("chat/attachment", "GET", f"{room.path}/attachments/{made['id']}", user.token)


CHAT = (
    Deed(8, read_back),
    Deed(4, reading("chat/conversations", "/v1/social/chat/conversations")),
    Deed(2, change_and_remove),
    Deed(1, vote),
    Deed(1, attach),
)
