"""Changes of news whose COMMIT loses its answer."""

from tests.news.play import POLL, editor, write
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    body = {"scope": {"type": "global"}, "title": MARK, "body": "text", "status": "published"}
    return Lost(ed, "POST", "/v1/news", body, counted(ann, "/v1/news"))


async def a_change_of_an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    made = await write(ed, status="draft")
    body = {"title": MARK, "status": "published"}
    return Lost(ed, "PATCH", f"/v1/news/{made['id']}", body, counted(ann, "/v1/news"))


async def follows_of_news(world: World) -> Lost:
    ann = await world.player("Ann")
    body = {"items": [{"type": "category", "id": MARK}]}
    return Lost(ann, "PUT", "/v1/news/follows", body, counted(ann, "/v1/news/follows"))


async def a_vote_in_an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    made = await write(ed, poll=POLL)

    async def voters() -> int:
        return (await ed.get(f"/v1/news/{made['id']}"))["poll"]["totalVoters"]

    path = f"/v1/news/{made['id']}/poll/vote"
    return Lost(ann, "POST", path, {"optionIds": ["1"]}, voters, said=b"INSERT INTO news_votes")


CASES = (
    an_article,
    a_change_of_an_article,
    follows_of_news,
    a_vote_in_an_article,
)
