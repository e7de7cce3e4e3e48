"""The rows of totems: counts that follow, what is forgotten, and races."""

import secrets
from functools import partial

import pytest
import trio

from actors.errors import Invalid, NotFound
from actors.ids import new_object_id
from actors.totems.units import KEPT, Draft, activate, check_draft, upload
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.totems import totems
from persistence.totems.totems import Model
from persistence.users.users import arrive
from tests.totems.play import DRAFT, NOW_MS, counted, uid


async def users(database: Database, count: int) -> list[str]:
    async def make(conn: Connection) -> None:
        for number in range(count):
            await arrive(conn, uid(number), f"User {number}", issued_at_s=0, now_ms=NOW_MS)

    await database.transact(make)
    return [uid(number) for number in range(count)]


async def add(database: Database, owner_id: str, at_ms: int = NOW_MS) -> str:
    model_id = new_object_id(at_ms, secrets.token_bytes)
    await database.transact(partial(upload, now_ms=at_ms), owner_id, model_id, DRAFT, b"{}")
    return model_id


async def carry(database: Database, user_id: str, model_id: str) -> Model:
    return await database.transact(partial(activate, gallery=True), user_id, model_id, NOW_MS)


async def test_what_is_answered_is_what_is_stored(database: Database):
    (ann,) = await users(database, 1)
    model_id = new_object_id(NOW_MS, secrets.token_bytes)
    made = await database.transact(partial(upload, now_ms=NOW_MS), ann, model_id, DRAFT, b"{}")
    assert made == await database.read(totems.selected_by, ann)


async def test_a_user_takes_everything_along(database: Database):
    ann, bob, cid = await users(database, 3)
    first, second = await add(database, ann), await add(database, bob)
    await carry(database, cid, first)
    await carry(database, ann, second)

    async def erase(conn: Connection) -> None:
        await conn.execute("DELETE FROM users WHERE id = $1", ann)

    await database.transact(erase)
    await counted(database)
    assert await database.read(totems.selected_by, cid) is None
    left = await database.read(totems.selected_by, bob)
    assert left is not None
    assert left.selected_count == 1


async def test_the_oldest_that_nobody_carries_go(database: Database):
    ann, bob = await users(database, 2)
    first = await add(database, ann)
    await carry(database, bob, first)
    ids = [await add(database, ann, NOW_MS + number) for number in range(1, KEPT + 6)]
    models, total = await database.read(partial(totems.uploaded_by, limit=500, offset=0), ann)
    # The newest is carried by ann, the first by bob; of the others, so many are kept.
    assert [model.id for model in models] == [*ids[: -KEPT - 2 : -1], first]
    assert total == KEPT + 2
    await counted(database)
    with pytest.raises(NotFound):
        await carry(database, bob, ids[0])


async def test_a_hundred_at_once(database: Database):
    """Everybody changes between the same few, in any order: nobody waits in a circle, and every one is counted."""
    everybody = await users(database, 25)
    models = [await add(database, owner) for owner in everybody[:4]]
    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(carry, database, everybody[number * 7 % 25], models[number * 3 % 4])
            if number % 10 == 0:
                nursery.start_soon(add, database, everybody[number % 25])
    await counted(database)


async def test_uploads_of_one_user_wait_for_each_other(database: Database):
    (ann,) = await users(database, 1)
    taken: list[str] = []

    async def one() -> None:
        model_id = new_object_id(NOW_MS, secrets.token_bytes)
        await database.transact(partial(upload, now_ms=NOW_MS), ann, model_id, DRAFT, b"{}")
        taken.append(model_id)

    async with trio.open_nursery() as nursery:
        for _ in range(60):
            nursery.start_soon(one)
    assert len(taken) == 60
    _, total = await database.read(partial(totems.uploaded_by, limit=1, offset=0), ann)
    assert total == KEPT + 1
    await counted(database)


async def test_pages_neither_skip_nor_repeat(database: Database):
    """All counts and times are equal: the ids decide."""
    owners = await users(database, 7)
    made = {await add(database, owner) for owner in owners for _ in range(3)}
    for sort in ("selected", "created", "last_used", "name"):
        for order in ("asc", "desc"):
            seen: list[str] = []
            for offset in range(0, 24, 4):
                read = partial(totems.gallery, limit=4, offset=offset)
                models, total = await database.read(read, sort, order)
                seen += [model.id for model in models]
                assert total == 21
            assert len(seen) == 21
            assert set(seen) == made


async def test_unknown_users_and_models(database: Database):
    (ann,) = await users(database, 1)
    with pytest.raises(NotFound):
        await add(database, uid(99))
    with pytest.raises(NotFound):
        await carry(database, uid(99), "0" * 24)
    with pytest.raises(NotFound):
        await carry(database, ann, "0" * 24)
    await counted(database)


@pytest.mark.parametrize("content", ["sfw", "nsfw", "nsfl"])
@pytest.mark.parametrize("age", [0, 16, 18, 21])
def test_content_and_age(content: str, age: int):
    draft = Draft("blockbench", None, content, age, None, None, None)
    if content == "sfw" or age >= 16:
        check_draft(draft, uid(1))
    else:
        with pytest.raises(Invalid) as caught:
            check_draft(draft, uid(1))
        assert caught.value.errors[0].pointer == "/rating/age"
