"""Wire: the first super-admin, once (contract §11 Setup)."""

import re

import pytest
import trio

from routes.users.setup import setup_link
from tests.edge.asgi import request
from tests.users.parts import ROOT


@pytest.fixture
async def offer(parts):
    async def offer():
        link = await setup_link(
            parts.database,
            "http://here.example",
            now_ms=parts.clock.now_ms(),
            random_bytes=parts.random_bytes,
        )
        return link and link.partition("#code=")[2]

    return offer


async def set_up(app, code, name="Root", **headers):
    return await request(app, "POST", "/v1/setup", {"code": code, "name": name}, **headers)


async def test_the_link_holds_the_code_in_its_fragment(parts, offer):
    link = await setup_link(
        parts.database, "http://here.example", now_ms=parts.clock.now_ms(), random_bytes=parts.random_bytes
    )
    assert re.fullmatch(r"http://here\.example/setup#code=[A-Za-z0-9_-]{27}", link)


async def test_setting_up_makes_a_super_admin_and_is_in_the_trail(app, people, offer):
    answer = await set_up(app, await offer(), "Ada")
    assert answer.status == 201
    assert answer.json.keys() == {"userId", "token"}
    me = (await people.call(answer.json["token"], "GET", "/v1/profile/self")).json
    assert (me["userId"], me["name"], me["highestRoleLabel"]) == (answer.json["userId"], "Ada", "Super Admin")
    trail = (await people.call(answer.json["token"], "GET", "/v1/admin/audit")).json["items"]
    assert [(line["action"], line["actorId"]) for line in trail] == [("role.added", me["userId"])]


async def test_a_code_makes_one_super_admin(app, offer):
    code = await offer()
    assert (await set_up(app, code)).status == 201
    again = await set_up(app, code)
    assert (again.status, again.code) == (409, "INVALID_STATE")
    assert await offer() is None


async def test_a_hundred_at_once_make_one(app, people, offer):
    code = await offer()
    answers = []

    async def attempt(number):
        answers.append(await set_up(app, code, f"Root{number}"))

    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(attempt, number)
    assert sorted(answer.status for answer in answers) == [201] + [409] * 99
    (made,) = [answer.json for answer in answers if answer.status == 201]
    found = (await people.call(made["token"], "GET", "/v1/admin/users/lookup?query=root")).json["items"]
    assert [one["userId"] for one in found] == [made["userId"]]


async def test_a_newer_link_ends_the_older(app, offer):
    older, newer = await offer(), await offer()
    answer = await set_up(app, older)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")
    assert (await set_up(app, newer)).status == 201


async def test_a_super_admin_by_the_command_line_closes_the_link(app, people, offer):
    code = await offer()
    await people.make(ROOT, role="super-admin")
    assert (await set_up(app, code)).status == 409
    assert await offer() is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"code": "x"}, 422),
        ({"code": "", "name": "Root"}, 422),
        ({"code": "x" * 201, "name": "Root"}, 422),
        ({"code": "x", "name": "Root"}, 404),
        ({"code": 1, "name": "Root"}, 422),
        ({"code": "x", "name": ""}, 422),
        ({"code": "x", "name": " Root"}, 422),
        ({"code": "x", "name": "Ro\not"}, 422),
        ({"code": "x", "name": "R" * 65}, 422),
    ],
)
async def test_what_is_refused_leaves_the_code_good(app, offer, body, status):
    code = await offer()
    answer = await request(app, "POST", "/v1/setup", body)
    assert answer.status == status
    assert (await set_up(app, code)).status == 201


async def test_a_repeat_under_the_same_key_is_the_same_answer(app, offer):
    code = await offer()
    first, second = [await set_up(app, code, idempotency_key="k-1") for _ in range(2)]
    assert first.body == second.body
    assert second.headers["idempotent-replayed"] == "true"


async def test_secrets_are_kept_hashed_or_sealed(app, offer, parts):
    code = await offer()

    async def everything(conn):
        tables = await conn.fetch("SELECT relname FROM pg_stat_user_tables ORDER BY relname")
        rows = [await conn.fetch(f"SELECT * FROM {table['relname']}") for table in tables]
        return repr([[tuple(row) for row in some] for some in rows]).encode()

    assert code.encode() not in await parts.database.read(everything)
    token = (await set_up(app, code, idempotency_key="k-1")).json["token"]
    kept = await parts.database.read(everything)
    assert token.encode() not in kept
    assert token.rpartition(".")[2].encode() not in kept
