"""Idempotency-Key, over a real database: one effect, the same answer, and what keeps two callers apart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
import pytest
import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from routes.edge import policies
from routes.edge.errors import BadQuery, IdempotencyInProgress, IdempotencyKeyReused
from routes.edge.pipeline.idempotency import KEPT_MS, Attempt, Idempotency, digest_of
from routes.edge.server.quart_app import EdgeApp
from tests.edge.asgi import Answered, request
from tests.edge.parts import NOW_MS, Parts, user
from tests.edge.sample import serving

PARTS = "/v1/things/aaaa0000aaaa0000aaaa0000/parts"


async def create(conn: Connection) -> None:
    await conn.execute("CREATE TABLE parts (id text, name text)")


async def stored(conn: Connection) -> list[bytes]:
    return [row["reply"] for row in await conn.fetch("SELECT reply FROM receipts")]


async def forget_etags(conn: Connection) -> None:
    """Leaves of receipts what releases store that keep no ETag."""
    await conn.execute("DELETE FROM receipts WHERE reply = '\"r1\"'")


async def count(conn: Connection) -> int:
    return int(await conn.fetchval("SELECT count(*) FROM parts"))


@pytest.fixture
async def parts(database: Database) -> Parts:
    await database.transact(create)
    return Parts(database=database)


@pytest.fixture
async def app(parts: Parts) -> AsyncIterator[EdgeApp]:
    async with serving(parts) as app:
        yield app


async def post(app: EdgeApp, name: str = "x", key: str = "k1", **more: str) -> Answered:
    return await request(app, "POST", PARTS, {"name": name}, idempotency_key=key, **({"token": "ann"} | more))


async def test_repeat_gets_the_first_answer(app: EdgeApp, database: Database) -> None:
    first, again = await post(app), await post(app)
    assert (first.status, first.json) == (201, {"name": "x", "sizeBytes": 7})
    assert (again.status, again.body) == (first.status, first.body)
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert again.headers["content-type"] == "application/json"
    assert await database.read(count) == 1


async def test_other_body_is_refused(app: EdgeApp, database: Database) -> None:
    await post(app)
    reused = await post(app, "y")
    assert (reused.status, reused.code, reused.json["errors"]) == (422, "IDEMPOTENCY_KEY_REUSED", [])
    assert await database.read(count) == 1


async def test_bytes_of_kept_answers_are_bounded(app: EdgeApp, parts: Parts, database: Database) -> None:
    """A large answer to each key would fill the disk within a day; small ones are bounded by the rate of requests."""
    kept, now_ms, ann = policies.KEPT_ANSWERS, parts.clock.now_ms(), user(1).key
    parts.limits.spend(kept, ann, now_ms, kept.quota - 2_000)
    assert (await post(app, key="small")).status == 201
    assert (await post(app, "long", key="large")).status == 201
    refused = await post(app, key="another")
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert int(refused.headers["retry-after"]) > 0
    assert await database.read(count) == 2
    assert (await post(app, "long", key="large")).headers["idempotent-replayed"] == "true"
    assert (await request(app, "POST", PARTS, {"name": "x"}, token="ann")).status == 201
    assert (await post(app, key="another", token="bob")).status == 201


async def test_callers_paths_and_keys_are_apart(app: EdgeApp, database: Database) -> None:
    await post(app)
    await post(app, token="bob")
    await post(app, key="k2")
    other = "/v1/things/aaaa1111aaaa1111aaaa1111/parts"
    await request(app, "POST", other, {"name": "x"}, token="ann", idempotency_key="k1")
    assert await database.read(count) == 4


async def test_without_a_key_nothing_is_kept(app: EdgeApp, database: Database) -> None:
    for _ in range(2):
        answer = await request(app, "POST", PARTS, {"name": "x"}, token="ann")
        assert "idempotent-replayed" not in answer.headers
    assert await database.read(count) == 2


async def test_refusals_are_not_kept(app: EdgeApp, database: Database) -> None:
    assert (await post(app, "taken")).status == 409
    assert (await post(app, "good")).status == 201  # the same key: nothing was kept for it
    assert await database.read(count) == 1


async def test_key_is_forgotten_after_a_day(app: EdgeApp, parts: Parts, database: Database) -> None:
    await post(app)
    parts.clock.at_ms += KEPT_MS - 1
    assert (await post(app)).headers["idempotent-replayed"] == "true"
    parts.clock.at_ms += 1
    assert "idempotent-replayed" not in (await post(app)).headers
    assert await database.read(count) == 2


async def test_anonymous_callers_are_told_apart_by_address(app: EdgeApp, database: Database) -> None:
    for peer in ("198.51.100.1", "198.51.100.2", "198.51.100.1"):
        answer = await request(app, "POST", "/v1/anonymous", idempotency_key="k", peer=peer)
        assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["idempotent-replayed"] == "true"
    assert await database.read(count) == 2


async def test_secret_reply_is_sealed(app: EdgeApp, parts: Parts, database: Database) -> None:
    async def put(key: str = "k") -> Answered:
        return await request(app, "PUT", "/v1/secrets", token="ann", idempotency_key=key)

    first, again = await put(), await put()
    assert (first.status, first.json["name"], first.headers["x-a"]) == (202, "s3cret", "b")
    assert (again.status, again.body) == (202, first.body)

    assert again.headers["etag"] == first.headers["etag"] == '"s3"'
    assert [b"s3" in reply for reply in await database.read(stored)] == [False, False]


async def test_a_repeat_has_the_etag_of_the_first_answer(app: EdgeApp, database: Database) -> None:
    async def put() -> Answered:
        return await request(app, "PUT", "/v1/tags", {"name": "x"}, token="ann", idempotency_key="k")

    first, again = await put(), await put()
    assert (first.headers["etag"], first.headers["x-a"]) == ('"r1"', "b")
    assert (again.body, again.headers["etag"]) == (first.body, '"r1"')
    assert "x-a" not in again.headers  # it said how the first request was answered, not what
    await database.transact(forget_etags)
    assert "etag" not in (await put()).headers


async def test_an_answer_without_an_effect_in_rows_is_kept_by_itself(
    app: EdgeApp, database: Database
) -> None:
    async def told(name: str, key: str | None = "n1") -> Answered:
        headers = {} if key is None else {"idempotency_key": key}
        return await request(app, "POST", "/v1/notes", {"name": name}, token="ann", **headers)

    first, again = await told("by itself"), await told("by itself")
    assert (first.status, first.json, first.headers.get("idempotent-replayed")) == (
        201,
        {"name": "by itself", "sizeBytes": 1},
        None,
    )
    assert (again.status, again.body, again.headers["idempotent-replayed"]) == (201, first.body, "true")
    assert (await told("another")).code == "IDEMPOTENCY_KEY_REUSED"
    assert (await told("by itself", None)).json["sizeBytes"] == 2
    assert not any(b"by itself" in reply for reply in await database.read(stored))


async def test_a_route_that_keeps_no_answers_takes_the_key(app: EdgeApp) -> None:
    answers = [
        await request(app, "POST", "/v1/beats", {"name": "beat"}, token="ann", idempotency_key="b")
        for _ in range(2)
    ]
    assert [answer.json["sizeBytes"] for answer in answers] == [1, 2]


class Barrier:
    """A transaction that keeps everybody else out of the table until it is told to end."""

    def __init__(self) -> None:
        self.reached = trio.Event()
        self._trio = trio.lowlevel.current_trio_token()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def hold(self, conn: Connection) -> None:
        await conn.execute("LOCK TABLE parts")
        await conn.execute("LOCK TABLE receipts IN SHARE MODE")  # which may be read
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._trio.run_sync_soon(self.reached.set)
        await self._ended.wait()

    def end(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ended.set)


async def waiting_for_the_table(database: Database, requests: int) -> None:
    async def waiting(conn: Connection) -> int:
        return int(await conn.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))

    while await database.read(waiting) < requests:
        await trio.lowlevel.checkpoint()


async def test_key_in_flight(app: EdgeApp, database: Database) -> None:
    barrier = Barrier()
    answers: list[Answered] = []

    async def first() -> None:
        answers.append(await post(app))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(database.transact, barrier.hold)
        await barrier.reached.wait()
        nursery.start_soon(first)
        await waiting_for_the_table(database, 1)
        in_flight = await post(app)
        assert (in_flight.status, in_flight.code) == (409, "IDEMPOTENCY_IN_PROGRESS")
        barrier.end()
    assert [answer.status for answer in answers] == [201]
    assert (await post(app)).headers["idempotent-replayed"] == "true"


async def on_two_nodes(database: Database, ask: Callable[[EdgeApp], Awaitable[Answered]]) -> list[Answered]:
    """What two nodes answer who are asked at once, so that neither finds a receipt."""
    await database.transact(create)
    barrier = Barrier()
    answers: list[Answered] = []

    async def on_a_node() -> None:
        async with serving(Parts(database=database)) as app:
            answers.append(await ask(app))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(database.transact, barrier.hold)
        await barrier.reached.wait()
        nursery.start_soon(on_a_node)
        nursery.start_soon(on_a_node)
        await waiting_for_the_table(database, 2)
        barrier.end()
    return answers


async def test_same_key_on_two_nodes_at_once(database: Database) -> None:
    """PostgreSQL lets one commit, and the other answers with that one's reply."""
    answers = await on_two_nodes(database, post)
    assert [(answer.status, answer.json["name"]) for answer in answers] == [(201, "x")] * 2
    assert sorted(answer.headers.get("idempotent-replayed", "") for answer in answers) == ["", "true"]
    assert await database.read(count) == 1


async def test_same_key_on_two_nodes_at_once_without_an_effect_in_rows(database: Database) -> None:
    async def note(app: EdgeApp) -> Answered:
        return await request(app, "POST", "/v1/notes", {"name": "twins"}, token="ann", idempotency_key="k")

    answers = await on_two_nodes(database, note)
    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].body == answers[1].body
    assert sorted(answer.headers.get("idempotent-replayed", "") for answer in answers) == ["", "true"]


async def test_same_key_on_two_nodes_at_once_where_a_second_effect_is_refused(database: Database) -> None:
    answers = await on_two_nodes(database, lambda app: post(app, "only"))
    assert [(answer.status, answer.json["name"]) for answer in answers] == [(201, "only")] * 2
    assert sorted(answer.headers.get("idempotent-replayed", "") for answer in answers) == ["", "true"]
    async with serving(Parts(database=database)) as app:
        other = await post(app, "only", key="k2")
    assert (other.status, other.code) == (409, "INVALID_STATE")


@pytest.mark.parametrize("text", [b"", b" ", b"a b", b"x" * 256, b"\xc3\xa9", b"a\x00"])
def test_key_that_is_not_well_formed(text: bytes) -> None:
    with pytest.raises(BadQuery):
        begin(Idempotency(b"k" * 32), text)


def begin(keys: Idempotency, text: bytes = b"k", *, secret: bool = False) -> Attempt:
    return keys.begin(
        text, scope="ann", line="POST /x", body_digest=digest_of(b"{}"), secret=secret, now_ms=NOW_MS
    )


def test_key_is_free_again_after_its_request() -> None:
    keys = Idempotency(b"k" * 32)
    attempt = begin(keys)
    with pytest.raises(IdempotencyInProgress):
        begin(keys)
    keys.end(attempt)
    assert begin(keys).key == attempt.key


def test_an_effect_comes_after_the_whole_body() -> None:
    keys = Idempotency(b"k" * 32)
    attempt = keys.begin(b"k", scope="ann", line="PUT /x", body_digest=None, secret=False, now_ms=NOW_MS)
    with pytest.raises(RuntimeError, match="whole body"):
        attempt.receipt(200, b"{}")
    attempt.read(digest_of(b"{}"))
    assert attempt.receipt(200, b"{}").fingerprint == begin(Idempotency(b"k" * 32)).fingerprint


def test_sealed_reply_opens_only_under_both_keys() -> None:
    kept = begin(Idempotency(b"k" * 32), secret=True).receipt(201, b"s3cret")
    assert b"s3cret" not in kept.reply
    assert begin(Idempotency(b"k" * 32), secret=True).replay(kept) == (201, b"s3cret", b"")
    with pytest.raises(IdempotencyKeyReused):
        begin(Idempotency(b"j" * 32), secret=True).replay(kept)
    with pytest.raises(IdempotencyKeyReused):
        begin(Idempotency(b"k" * 32), b"other", secret=True).replay(kept)


def test_replies_that_are_stored_still_open() -> None:
    """The sealed bytes are those of version 2026.11.23, for this key, request and nonce."""
    stored = bytes.fromhex(
        "000102030405060708090a0bc8cc0336d8c95fe214f9590d8d0d8e552d5b84b4de9b391a4f8c3bd6cc3cb30c"
    )
    keys = Idempotency(bytes(range(32)), random_bytes=lambda count: bytes(range(count)))
    sealer = keys.begin(
        b"once", scope="ann", line="POST /v1/x", body_digest=bytes(32), secret=True, now_ms=0
    ).sealer
    assert sealer is not None
    assert sealer.open(stored) == b'{"token":"hush"}'
    assert sealer.seal(b'{"token":"hush"}') == stored


@pytest.mark.parametrize(
    ("fault", "status", "outcome"),
    [("away", 503, "unknown"), ("full", 503, "unknown"), ("slow", 503, "unknown"), ("refused", 409, None)],
)
async def test_no_503_says_that_nothing_has_changed_where_something_has(
    parts: Parts, fault: str, status: int, outcome: str | None
) -> None:
    parts.config = msgspec.structs.replace(parts.config, request_seconds=2)
    async with serving(parts) as app:
        answer = await request(app, "POST", f"/v1/changed/{fault}")
    assert (answer.status, answer.json["meta"].get("outcome")) == (status, outcome)
