"""Wire: whether the caller belongs to what a path names is asked before its body is looked at (contract §1)."""

from typing import Any, NamedTuple

from actors.ids import new_uuid
from tests.connect.play import SERVERS, claimed
from tests.gateways.play import GATEWAYS
from tests.news.play import NEWS, POLL, change, editor, write
from tests.saved_servers.play import save
from tests.services.play import extension, service
from tests.shop.play import ALL_PURCHASES, PRODUCTS
from tests.support.world import Player, World, world
from tests.versions.play import RELEASES, Publisher
from tests.voice.play import VOICE

__all__ = ["world"]

SAVED, REPORTS, ADMIN = "/v1/profile/public-servers/saved", "/v1/social/friends/reports", "/v1/admin"
NO_ID = "0" * 24
NOBODY = new_uuid(lambda n: b"\0" * n)
TEXT = {"content-type": "text/plain"}


class Case(NamedTuple):
    """A request that is refused for what its path names, whatever its body is.

    Args:
        good: a body that is valid in itself.
    """

    caller: Player
    method: str
    path: str
    good: dict[str, Any]
    status: int

    async def statuses(self) -> set[int]:
        """Those of the good body, of ones of the wrong type, of text that is no JSON, and of another media type."""
        wrong = {name: {} for name in self.good}
        answers = [
            await self.caller.ask(self.method, self.path, self.good),
            await self.caller.ask(self.method, self.path, wrong),
            await self.caller.ask(self.method, self.path, []),
            await self.caller.ask(self.method, self.path, content=b"{bad"),
            await self.caller.ask(self.method, self.path, content=b"x", headers=TEXT),
        ]
        return {answer.status_code for answer in answers}


async def chat_cases(world: World) -> list[Case]:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben)
    own = await ann.say(room)
    edit = {"content": "new"}
    return [
        Case(ben, "PATCH", room.message(own["id"]), edit, 403),
        Case(ben, "PATCH", room.message(NO_ID), edit, 404),
        Case(cid, "PATCH", room.message(own["id"]), edit, 404),
    ]


async def people_cases(world: World) -> list[Case]:
    dan, eve, admin = await world.player("Dan"), await world.player("Eve"), await world.super_admin()
    judge = await world.ranked("Judge", "moderator")
    about = await dan.do("POST", REPORTS, {"targetId": judge.id}, status=201)
    saved = await save(dan, "a.example")
    verdict = {"status": "dismissed"}
    return [
        Case(dan, "PATCH", f"/v1/social/friends/{eve.id}", {"favorite": True}, 404),
        Case(eve, "PATCH", f"{SAVED}/{saved['id']}", {"favorite": True}, 404),
        Case(judge, "PATCH", f"{ADMIN}/reports/{NO_ID}", verdict, 404),
        Case(judge, "PATCH", f"{ADMIN}/reports/{about['id']}", verdict, 403),
        Case(admin, "POST", f"{ADMIN}/users/{NOBODY}/permissions", {"node": "news:write"}, 404),
    ]


async def connect_cases(world: World) -> list[Case]:
    fay, gil = await world.players("Fay", "Gil")
    server = await claimed(world, fay)
    path = f"{SERVERS}/{server.id}"
    made = await service(fay, await extension(fay, "maps"))
    migration = {"extensionId": "maps"}
    return [
        Case(server, "POST", f"{path}/commands/{NO_ID}/ack", {"status": "ok"}, 404),
        Case(fay, "PUT", f"{path}/members/{NOBODY}", {"role": "viewer"}, 404),
        Case(fay, "POST", f"/v1/services/{NO_ID}/migrate-extension", migration, 404),
        Case(gil, "POST", f"/v1/services/{made['serviceId']}/migrate-extension", migration, 404),
    ]


async def news_cases(world: World) -> list[Case]:
    ed, reader = await editor(world), await world.player("Reader")
    draft = await write(ed, status="draft", poll=POLL)
    plain = await write(ed)
    vote = {"optionIds": []}
    return [
        Case(reader, "POST", f"{NEWS}/{NO_ID}/poll/vote", vote, 404),
        Case(reader, "POST", f"{NEWS}/{draft['id']}/poll/vote", vote, 404),
        Case(reader, "POST", f"{NEWS}/{plain['id']}/poll/vote", vote, 404),
    ]


async def operators_cases(world: World) -> list[Case]:
    root, judge = await world.super_admin(), await world.ranked("Judge", "moderator")
    hal = await world.player("Hal")
    release = await Publisher(world, root).release()
    note = await root.do("POST", f"{ADMIN}/users/{hal.id}/notes", {"text": "Loud."}, status=201)
    text, unknown = {"text": "Quiet."}, f"{RELEASES}/{NO_ID}"
    return [
        Case(root, "PATCH", f"{PRODUCTS}/{NO_ID}", {"revision": 1}, 404),
        Case(root, "POST", f"{ALL_PURCHASES}/{NO_ID}/mark-paid", {"note": "Cash."}, 404),
        Case(root, "PATCH", unknown, {"notes": "New."}, 404),
        Case(root, "PUT", f"{unknown}/artifacts/{NO_ID}/content", {}, 404),
        Case(root, "PUT", f"{RELEASES}/{release['releaseId']}/artifacts/{NO_ID}/content", {}, 404),
        Case(root, "PATCH", f"{GATEWAYS}/{NO_ID}", {"capacity": 5}, 404),
        Case(root, "PATCH", f"{ADMIN}/connect/publications/{NO_ID}", {"featured": True}, 404),
        Case(root, "PUT", f"{VOICE}/channels/{NOBODY}/control", {"locked": True}, 404),
        Case(root, "POST", f"{ADMIN}/users/{NOBODY}/notes", text, 404),
        Case(root, "PATCH", f"{ADMIN}/users/{hal.id}/notes/{NO_ID}", text, 404),
        Case(judge, "POST", f"{ADMIN}/users/{judge.id}/notes", text, 403),
        Case(judge, "PATCH", f"{ADMIN}/users/{hal.id}/notes/{note['id']}", text, 403),
    ]


async def test_the_wrong_caller_is_refused_whatever_the_body(world: World) -> None:
    for cases in (chat_cases, people_cases, connect_cases, news_cases, operators_cases):
        for case in await cases(world):
            assert await case.statuses() == {case.status}, f"{case.caller.name}: {case.method} {case.path}"


async def test_the_body_of_the_right_caller_is_looked_at(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    own = await ann.say(room)
    assert await ann.refused("PATCH", room.message(own["id"]), {"content": 5}) == (422, "VALIDATION_FAILED")
    # Whoever could vote once is told that the poll is closed, though the article has left the lists.
    ed = await editor(world)
    article = await write(ed, poll=POLL)
    await change(ed, article, status="archived")
    assert await ann.refused("POST", f"{NEWS}/{article['id']}/poll/vote", {"optionIds": []}) == (
        409,
        "POLL_CLOSED",
    )
