"""One rule of texts for the fields of all domains: the same flaw has the same code and sentence, and emoji pass."""

from typing import Any, NamedTuple

from actors.texts import LINE_SENTENCE, SENTENCE
from tests.capes.stage import ADMIN, cape_in, texture
from tests.capes.stage import OWN as CAPES
from tests.connect.play import SERVERS, claimed
from tests.friends.play import BLOCKS, FRIENDS, REQUESTS, make_friends
from tests.publications.play import path_of
from tests.support.world import CONVERSATIONS, Player, World, world
from tests.totems.models import body as totem

__all__ = ["world"]

PARTY, REPORTS = "/v1/social/party", "/v1/social/friends/reports"

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


class Field(NamedTuple):
    """Where a text goes.

    Args:
        pointer: of its field, in the body.
        rest: the body without it.
    """

    method: str
    path: str
    pointer: str
    rest: dict[str, Any]

    async def send(self, player: Player, text: str) -> Any:
        """The answer to a request with this text."""
        *outer, last = self.pointer.strip("/").split("/")
        value: dict[str, Any] = {last: text}
        for name in reversed(outer):
            value = {name: value}
        return await player.ask(self.method, self.path, {**self.rest, **value})


async def fields(world: World, ann: Player) -> tuple[list[Field], list[Field]]:
    """Fields of one line, and of several."""
    ben, cid, dan, eve = await world.players("Ben", "Cid", "Dan", "Eve")
    room, server = await ann.talk_to(ben, kind="group"), await claimed(world, ann)
    group = {"kind": "group", "participantIds": [cid.id]}
    public = {"address": "play.example.org", "displayName": "Lobby"}
    cape = {"name": "Cape", "texture": texture()}
    invite = {"inviteeUserId": dan.id, "role": "viewer"}
    await make_friends(ann, cid)
    await ann.do("POST", PARTY)
    selection = {"targetKind": "server", "targetId": "hub", "displayName": "Hub"}
    line = [
        Field("POST", CONVERSATIONS, "/title", group),
        Field("PATCH", room.path, "/title", {}),
        Field("POST", f"{SERVERS}/register", "/serverName", {"serverType": "paper"}),
        Field("POST", "/v1/connect/networks", "/name", {}),
        Field("POST", f"{server.path}/commands", "/action", {}),
        Field("PUT", path_of(server), "/displayName", public),
        Field("POST", "/v1/profile/shares", "/name", {"manifest": {}}),
        Field("POST", CAPES, "/name", cape),
        Field("POST", "/v1/profile/personal-totem", "/author/name", totem()),
        Field("PUT", f"{PARTY}/lobby/selection", "/displayName", selection),
        Field("PUT", f"{PARTY}/lobby/selection", "/minigame/mode", selection),
        Field("PUT", f"{PARTY}/lobby/ready", "/profileId", {"ready": False}),
    ]
    lines = [
        Field("POST", f"{room.path}/messages", "/content", {}),
        Field("PUT", path_of(server), "/motdOverride", public),
        Field("POST", CAPES, "/description", cape),
        Field("POST", "/v1/profile/personal-totem", "/author/description", totem()),
        Field("POST", REQUESTS, "/note", {"targetId": dan.id}),
        Field("PATCH", f"{FRIENDS}/{cid.id}", "/note", {}),
        Field("POST", BLOCKS, "/reason", {"targetId": eve.id}),
        Field("POST", REPORTS, "/reason", {"targetId": eve.id}),
        Field("POST", f"{server.path}/invites", "/note", invite),
        *await judging(world, ann, ben),
    ]
    return line, lines


async def judging(world: World, ann: Player, ben: Player) -> list[Field]:
    """The reasons that Ann gives as a moderator."""
    report = await ben.do("POST", REPORTS, {"targetId": (await world.player("Fay")).id}, status=201)
    await world.promote(ann, "moderator")
    cape = await cape_in("pending", ben, ann)
    return [
        Field("PATCH", f"/v1/admin/reports/{report['id']}", "/reason", {"status": "dismissed"}),
        Field("PATCH", f"{ADMIN}/{cape['id']}", "/reason", {"status": "private"}),
    ]


async def test_the_same_flaw_has_the_same_code_and_sentence_everywhere(world: World):
    ann = await world.player("Ann")
    line, lines = await fields(world, ann)
    for known, texts, sentence in (
        (line, ("a\x1bb", "a\nb", "a\u202eb"), LINE_SENTENCE),
        (lines, ("a\x1bb", "a\x85b"), SENTENCE),
    ):
        for field in known:
            for text in texts:
                response = await field.send(ann, text)
                assert response.status_code == 422, (field, text, response.text)
                error = {"pointer": field.pointer, "code": "BAD_TEXT", "message": sentence}
                assert response.json()["errors"] == [error], (field, text)


async def test_emoji_and_scripts_with_joiners_pass_everywhere(world: World):
    ann = await world.player("Ann")
    line, lines = await fields(world, ann)
    for known, more in ((line, ""), (lines, "\r\n\tb")):
        for field in known:
            response = await field.send(ann, f"{FAMILY} می\u200cخواهم{more}")
            assert response.status_code < 300, (field, response.text)
            assert FAMILY.encode() in response.content, field
            assert b"\\r" not in response.content, field
