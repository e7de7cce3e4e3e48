"""Wire: requests of the Python client, their refusals, and which are made again."""

from email.utils import formatdate
from time import time

import pytest

from actors.chat.public import Message
from partyline.client import Grant, Partyline, Problem, Unreachable, credentials
from partyline.client.types import ConversationList, MessagePage
from tests.client.play import dripping, http, saying
from tests.support.world import CONVERSATIONS, World

SOON = ("Retry-After: 0",)


async def test_answers_are_json_or_structs(world: World):
    ann, ben = await world.players("Ann", "Ben")
    async with Partyline(world.url, token=ann.token) as client:
        made = await client.rest.post(CONVERSATIONS, {"kind": "direct", "participantIds": [ben.id]})
        path = f"{CONVERSATIONS}/{made['id']}/messages"
        said = await client.rest.post(path, {"content": "hello"}, into=Message)
        page = await client.rest.get(path, {"limit": 10, "beforeMs": None}, into=MessagePage)
        assert [message.id for message in page.items] == [said.id]
        listed = await client.rest.get(CONVERSATIONS, into=ConversationList)
        assert [one.last_message_preview for one in listed.items] == ["hello"]
        assert await client.rest.put(f"{CONVERSATIONS}/{made['id']}/read", {"messageId": said.id})
        assert (await client.rest.patch(f"{path}/{said.id}", {"content": "hi"}))["revision"] == 2
        assert (await client.rest.delete(f"{path}/{said.id}"))["deletedAt"]
        assert (await client.rest.get("/health", into=bytes)).startswith(b"{")
        assert await client.rest.post(f"{CONVERSATIONS}/{made['id']}/typing") is None


async def test_lists_go_on_page_by_page(world: World):
    ann, *others = await world.players("Ann", "Ben", "Cem", "Dan")
    for other in others:
        await ann.talk_to(other)
    async with Partyline(world.url, token=ann.token) as client:
        found = [one["id"] async for one in client.rest.items(CONVERSATIONS, {"limit": 1})]
    assert len(set(found)) == 3


async def test_refusals_are_problems(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with Partyline(world.url + "/", token=ann.token) as client:
        with pytest.raises(Problem) as caught:
            await client.rest.post(room.messages, {"content": 5})
        problem = caught.value
        assert (problem.status, problem.code, problem.is_temporary) == (422, "VALIDATION_FAILED", False)
        assert problem.about("/content") and problem.about("/poll") is None and problem.request_id
        with pytest.raises(Problem, match="not found"):
            await client.rest.get(f"{CONVERSATIONS}/{'0' * 24}")
    async with Partyline(world.url) as stranger:
        with pytest.raises(Problem) as caught:
            await stranger.rest.get("/v1/profile/self")
        assert caught.value.status == 401


async def test_a_token_that_is_refused_is_renewed_once(world: World):
    ann = await world.player("Ann")
    asked = 0

    async def get_token() -> Grant | None:
        nonlocal asked
        asked += 1
        return Grant(ann.token or "", world.clock.now_ms() / 1000 + 3600) if asked == 1 else None

    async with Partyline(world.url, token="worn", get_token=get_token) as client:
        for _ in range(3):
            assert (await client.rest.get("/v1/auth/verify"))["name"] == "Ann"
    assert asked == 1


HOUR_AGO = time() - 3600


@pytest.mark.parametrize(
    ("pause_seconds", "fields"),
    [(credentials.PAUSE_SECONDS, ()), (0.0, (f"Date: {formatdate(HOUR_AGO, usegmt=True)}",))],
    ids=["the service says no time", "it is asked again at once"],
)
async def test_a_clock_that_is_ahead_has_no_token_asked_for_at_each_request(
    monkeypatch: pytest.MonkeyPatch, pause_seconds: float, fields: tuple[str, ...]
):
    monkeypatch.setattr(credentials, "PAUSE_SECONDS", pause_seconds)
    asked = 0

    async def get_token() -> Grant | None:
        nonlocal asked
        asked += 1
        return Grant("t", HOUR_AGO + 300)

    async with (
        saying(lambda _: http(200, {}, *fields)) as url,
        Partyline(url, get_token=get_token) as client,
    ):
        for _ in range(5):
            await client.rest.get("/v1/things")
    assert asked == 1


async def test_a_token_that_the_service_takes_is_used_while_the_login_service_is_away(world: World):
    ann = await world.player("Ann")
    asked = 0

    async def get_token() -> Grant | None:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise Unreachable("the login service is away")
        return Grant(ann.token or "", time() - 1)

    async with Partyline(world.url, token="worn", get_token=get_token) as client:
        for _ in range(3):
            assert (await client.rest.get("/v1/auth/verify", retry_seconds=0))["name"] == "Ann"
    assert asked == 2, "and is not asked at each request"


@pytest.mark.parametrize(
    ("method", "first", "tries"),
    [
        ("GET", http(503, {"code": "OVERLOADED"}, *SOON), 2),
        ("POST", http(503, {"code": "DATABASE_UNAVAILABLE", "meta": {"outcome": "unknown"}}, *SOON), 2),
        ("POST", http(429, {"code": "RATE_LIMITED", "meta": {"retryAfterMs": 5}}), 2),
        ("PUT", None, 2),
        ("GET", None, 2),
        ("PATCH", None, 1),
        ("DELETE", http(503, {"code": "OVERLOADED"}, *SOON), 1),
        ("POST", http(409, {"code": "POLL_CLOSED"}), 1),
        ("GET", http(502, b"<html>a proxy</html>"), 1),
    ],
)
async def test_only_what_is_safe_is_repeated(
    method: str, first: bytes | None, tries: int, autojump_clock: object
):
    heads: list[str] = []

    def answer(head: str) -> bytes | None:
        heads.append(head)
        return first if len(heads) == 1 else http(200, {"done": True})

    async with saying(answer) as url, Partyline(url, token="t") as client:
        if tries == 2:
            assert await client.rest.request(method, "/v1/things", body={}) == {"done": True}
        else:
            with pytest.raises((Problem, Unreachable)):
                await client.rest.request(method, "/v1/things", body={})
    assert len(heads) == tries
    keys = {
        line for head in heads for line in head.lower().split("\r\n") if line.startswith("idempotency-key")
    }
    assert len(keys) == (method in ("POST", "PUT"))


async def test_nobody_there_is_tried_until_the_time_is_over(autojump_clock: object):
    async with Partyline("http://127.0.0.1:1") as client:
        with pytest.raises(Unreachable) as caught:
            await client.rest.delete("/v1/things/1", retry_seconds=3)
    assert caught.value.is_outcome_unknown


async def test_an_answer_of_another_shape_is_told():
    async with saying(lambda _: http(200, b"[1")) as url, Partyline(url) as client:
        with pytest.raises(Unreachable, match="not what was expected"):
            await client.rest.get("/v1/things", retry_seconds=0)


@pytest.mark.parametrize("url", ["play.example.org", "ftp://x", ""])
def test_other_addresses_are_refused(url: str):
    with pytest.raises(ValueError, match="http"):
        Partyline(url)


# Where a body cannot be unpacked, httpx leaves what reads it to the garbage collector.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.parametrize(
    "answer",
    [
        http(200, b"hello", "Content-Encoding: gzip"),
        http(502, b"hello", "Content-Encoding: gzip"),
        http(200, '"caf\xe9"'.encode("latin-1")),
        http(200, b"[" * 100_000),
    ],
    ids=["no gzip", "no gzip either", "latin", "deep"],
)
async def test_an_answer_that_cannot_be_read_is_none(answer: bytes):
    async with saying(lambda _: answer) as url, Partyline(url) as client:
        with pytest.raises(Unreachable):
            await client.rest.get("/v1/things", retry_seconds=0)


@pytest.mark.parametrize("body", ['"caf\xe9"'.encode("latin-1"), b'{"meta":{"a":' + b"[" * 100_000])
async def test_a_refusal_that_cannot_be_read_is_one(body: bytes):
    async with saying(lambda _: http(403, body, "Retry-After: inf")) as url, Partyline(url) as client:
        with pytest.raises(Problem) as told:
            await client.rest.get("/v1/things")
    assert (told.value.status, told.value.code, told.value.retry_after_seconds) == (403, "UNKNOWN", 0)


async def test_an_answer_without_an_end_is_given_up_and_a_large_file_is_not(autojump_clock: object):
    async with dripping(10) as url, Partyline(url, timeout_seconds=40) as client:
        with pytest.raises(Unreachable, match="cannot be reached"):
            await client.rest.get("/v1/things", retry_seconds=0)
        assert await client.rest.get("/v1/things", into=bytes) == b" " * 10
