"""Settings over the wire: versions, schemas, secret values, history, and what makes a server temporary."""

from threading import get_ident

import pytest

from persistence.connect.rows import SettingsVersionRow
from routes.connect import settings
from routes.connect.jobs import SILENT_MS
from tests.connect.play import SERVERS, claimed, register
from tests.support.jobs import clean_connect
from tests.support.world import World

SCHEMA = {
    "version": "2",
    "fields": [
        {"key": "motd", "label": "Message", "type": "string", "required": True, "max": 20},
        {"key": "slots", "label": "Slots", "type": "int", "default": 10, "min": 1, "max": 100},
        {"key": "key", "label": "API key", "type": "secret"},
    ],
}
CANARY = "canary-5f1e8c"


async def test_each_put_of_settings_is_a_version_with_a_history(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    before = await ann.get(path, source="shop")
    assert (before["version"], before["data"], before["source"]) == (0, {}, "shop")
    body = {"source": "shop", "schemaVersion": "7", "data": {"open": True}}
    response = await ann.ask("PUT", path, body, headers={"idempotency-key": "one"})
    assert (response.status_code, response.headers["etag"]) == (200, '"1"')
    again = await ann.ask("PUT", path, body, headers={"idempotency-key": "one"})
    assert (again.headers["idempotent-replayed"], again.headers["etag"]) == ("true", '"1"')
    made = response.json()
    assert made == {
        "serverId": server.id,
        "source": "shop",
        "schemaVersion": "7",
        "version": 1,
        "data": {"open": True},
        "schema": None,
        "updatedAt": made["updatedAt"],
        "updatedBy": ann.id,
    }
    assert await server.get(path, source="shop") == made
    assert await ann.do("PUT", path, body, status=200) == made
    later = {**body, "data": {"open": False}}
    response = await server.ask("PUT", path, later, headers={"if-match": '"1"'})
    assert (response.json()["version"], response.json()["updatedBy"]) == (2, server.id)
    response = await ann.ask("PUT", path, body, headers={"if-match": '"1"'})
    assert (response.status_code, response.json()["code"]) == (409, "REVISION_CONFLICT")
    for malformed in ("x", '"1",', '"1" "2"'):
        response = await ann.ask("PUT", path, body, headers={"if-match": malformed})
        assert (response.status_code, response.json()["code"]) == (400, "BAD_QUERY")
    response = await ann.ask("PUT", path, body, headers={"if-match": '"1", W/"3"'})
    assert (response.status_code, response.json()["code"]) == (409, "REVISION_CONFLICT")
    response = await ann.ask("PUT", path, later, headers={"if-match": '"1" , "2"'})
    assert (response.status_code, response.json()["version"]) == (200, 2)
    history = (await ann.get(f"{path}/history"))["items"]
    assert [(one["version"], one["changedKeys"], one["updatedBy"]) for one in history] == [
        (2, ["open"], server.id),
        (1, ["open"], ann.id),
    ]
    assert (await ann.get(f"{path}/history", source="other"))["items"] == []


async def test_settings_are_held_to_the_schema_that_is_in_force(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    body = {"source": "shop", "schema": SCHEMA, "data": {"motd": "hi", "more": [1]}}
    made = await server.do("PUT", path, body, status=200)
    assert made["data"] == {"motd": "hi", "more": [1], "slots": 10}
    assert (made["schema"], made["schemaVersion"]) == (SCHEMA, "2")
    for data, pointer, code in (
        ({}, "/data/motd", "REQUIRED"),
        ({"motd": 1}, "/data/motd", "WRONG_TYPE"),
        ({"motd": "x" * 21}, "/data/motd", "OUT_OF_RANGE"),
        ({"motd": "x", "slots": True}, "/data/slots", "WRONG_TYPE"),
        ({"motd": "x", "slots": 101}, "/data/slots", "OUT_OF_RANGE"),
        ({"motd": "x", "key": 5}, "/data/key", "WRONG_TYPE"),
    ):
        response = await ann.ask("PUT", path, {"source": "shop", "data": data})
        assert response.status_code == 422
        (error,) = response.json()["errors"]
        assert (error["pointer"], error["code"]) == (pointer, code)
    bad = {"fields": [{"key": "a", "type": "enum"}, {"key": "a", "type": "secret", "default": "x"}]}
    response = await ann.ask("PUT", path, {"source": "shop", "schema": bad, "data": {}})
    assert {error["code"] for error in response.json()["errors"]} == {"REQUIRED", "DUPLICATE", "NOT_ALLOWED"}


async def test_a_page_of_history_is_masked_off_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of 1 MB takes 9 ms, in which nobody else was answered."""
    threads: list[int] = []
    made = settings.version_of

    def noting(row: SettingsVersionRow) -> settings.SettingsVersion:
        threads.append(get_ident())
        return made(row)

    monkeypatch.setattr(settings, "version_of", noting)
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/settings"
    for motd in ("hi", "ho"):
        body = {"source": "shop", "schema": SCHEMA, "data": {"motd": motd, "key": CANARY}}
        await ann.do("PUT", path, body, status=200)
    shown = (await ann.get(f"{path}/history"))["items"]
    assert [one["data"]["key"] for one in shown] == ["********"] * 2
    assert len(threads) == 2
    assert get_ident() not in threads


async def test_a_value_that_becomes_secret_is_masked_in_former_versions(world: World):
    """It was stored before the schema said so, and may be what is in use today."""
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/settings"
    plain = {"motd": "hi", "key": CANARY}
    await ann.do("PUT", path, {"source": "shop", "data": plain}, status=200)
    await ann.do("PUT", path, {"source": "other", "data": plain}, status=200)
    await ann.do("PUT", path, {"source": "shop", "data": {"motd": "ho"}}, status=200)
    await ann.do("PUT", path, {"source": "shop", "schema": SCHEMA, "data": plain}, status=200)
    shown = (await ann.get(f"{path}/history", source="shop"))["items"]
    assert [one["data"].get("key") for one in shown] == ["********", None, "********"]
    (other,) = (await ann.get(f"{path}/history", source="other"))["items"]
    assert other["data"] == plain


async def test_secret_values_are_the_servers_alone(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    body = {"source": "shop", "schema": SCHEMA, "data": {"motd": "hi", "key": CANARY}}
    response = await ann.ask("PUT", path, body, headers={"idempotency-key": "one"})
    assert response.json()["data"]["key"] == "********"
    response = await server.ask("PUT", path, {**body, "source": "own"}, headers={"idempotency-key": "two"})
    assert response.json()["data"]["key"] == CANARY
    assert (await server.get(path, source="shop"))["data"]["key"] == CANARY
    masked = await ann.get(path, source="shop")
    kept = await ann.do("PUT", path, {"source": "shop", "data": {**masked["data"], "motd": "ho"}}, status=200)
    assert (kept["data"], kept["version"]) == ({"motd": "ho", "slots": 10, "key": "********"}, 2)
    assert (await server.get(path, source="shop"))["data"]["key"] == CANARY
    for one in (ann, server):
        response = await one.ask("GET", f"{path}/history")
        assert CANARY not in response.text
        assert "********" in response.text
    await ann.do("PUT", path, {"source": "shop", "data": {"motd": "ho"}}, status=200)
    assert "key" not in (await server.get(path, source="shop"))["data"]
    (newest, *_) = (await ann.get(f"{path}/history", source="shop"))["items"]
    assert newest["changedKeys"] == ["key"]
    await world.service.system.drain()
    dumped = await world.service.database.read(_everything)
    assert CANARY.encode() not in dumped


async def test_the_length_of_a_secret_is_never_told(world: World):
    """Not by the bounds of a schema, nor by what fits beside it, to who may write and not read it."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    answers = []
    for source, secret in (("short", "x"), ("long", "x" * 900)):
        field = {"key": "key", "type": "secret"}
        body = {"source": source, "schema": {"fields": [field]}, "data": {"key": secret}}
        await server.do("PUT", path, body, status=200)
        told = []
        for bounds in ({"min": 10}, {"max": 10}, {"min": 10_000}, {"max": 0}, {}):
            asked = {
                "source": source,
                "schema": {"fields": [{**field, **bounds}]},
                "data": {"key": "********"},
            }
            told.append((await ann.ask("PUT", path, asked)).status_code)
        for room in (64_640, 64_400, 64_000):
            asked = {"source": source, "data": {"key": "********", "fill": "y" * room}}
            told.append((await ann.ask("PUT", path, asked)).status_code)
        answers.append(told)
        assert (await server.get(path, source=source))["data"]["key"] == secret
    assert answers[0] == answers[1] == [200, 200, 200, 200, 200, 413, 200, 200]
    refused = await ann.ask(
        "PUT", path, {**asked, "schema": {"fields": [{**field, "max": 3}]}, "data": {"key": "long"}}
    )
    assert refused.status_code == 422


async def test_a_mask_is_never_stored_in_place_of_a_secret(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    body = {
        "source": "shop",
        "schema": {"fields": [{"key": "a/b", "type": "secret"}]},
        "data": {"a/b": "hidden"},
    }
    await server.do("PUT", path, body, status=200)
    for fields in ([], [{"key": "a/b", "type": "string"}]):
        asked = {"source": "shop", "schema": {"fields": fields}, "data": {"a/b": "********"}}
        response = await ann.ask("PUT", path, asked)
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/data/a~1b")
    assert (await server.get(path, source="shop"))["data"] == {"a/b": "hidden"}
    await ann.do("PUT", path, {**body, "schema": {"fields": []}, "data": {"a/b": "open"}}, status=200)
    await ann.do("PUT", path, {"source": "shop", "data": {"a/b": "********"}}, status=200)


async def _everything(conn):
    """All bytes of all tables that could hold a setting."""
    found = b""
    for table in (
        "connect_settings",
        "connect_settings_history",
        "events",
        "snapshots",
        "receipts",
    ):
        rows = await conn.fetch(f"SELECT * FROM {table}")
        found += b"".join(value for row in rows for value in row.values() if isinstance(value, bytes))
        found += b"".join(str(value).encode() for row in rows for value in row.values())
    assert found
    return found


async def test_settings_are_bounded_by_source_and_in_all(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    large = {"source": "a", "data": {"x": "y" * 70_000}}
    assert await server.refused("PUT", path, large) == (413, "PAYLOAD_TOO_LARGE")
    for source in ("../x", "A", "x..y", "", "аdmin"):
        assert await server.refused("PUT", path, {"source": source, "data": {}}) == (422, "VALIDATION_FAILED")
    for number in range(8):
        await server.do("PUT", path, {"source": f"s{number}", "data": {"x": "y" * 64_000}}, status=200)
    more = {"source": "more", "data": {"x": "y" * 64_000}}
    assert await server.refused("PUT", path, more) == (422, "QUOTA_EXCEEDED")


async def test_settings_are_for_the_server_and_who_may_read_or_write_them(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other = await claimed(world, ann), await claimed(world, bob)
    path = f"{server.path}/settings"
    for one in (bob, other):
        for asked in (("GET", path), ("GET", f"{path}/history"), ("PUT", path, {"data": {}})):
            assert await one.refused(*asked) == (404, "NOT_FOUND")
    reader = await server.delegated("server.settings.read")
    assert (await reader.get(path))["version"] == 0
    assert await reader.refused("PUT", path, {"data": {}}) == (403, "FORBIDDEN")
    await world.grant(ann, "connect:settings:write", negated=True)
    assert await ann.refused("PUT", path, {"data": {}}) == (403, "FORBIDDEN")
    assert await world.nobody().refused("GET", path) == (401, "UNAUTHENTICATED")


async def test_the_service_s_own_source_says_who_is_temporary(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/settings"
    assert await server.refused("PUT", path, {"data": {"temp": 1}}) == (422, "VALIDATION_FAILED")
    for temporary in (True, False):
        await server.do("PUT", path, {"source": "connect", "data": {"temp": temporary}}, status=200)
        (listed,) = (await ann.get("/v1/connect/servers"))["items"]
        assert listed["tempInstance"] is temporary


async def test_who_no_longer_says_to_be_temporary_stays(world: World):
    """Settings are replaced as a whole: what the new ones leave out, they no longer say. As registered, so it stays."""
    ann = await world.player("Ann")
    said, registered = await claimed(world, ann), await claimed(world, ann, tempInstance=True)
    await said.do("PUT", f"{said.path}/settings", {"data": {"temp": True}}, status=200)
    for server in (said, registered):
        # By the owner: where a server has called, another node counts it as heard until it has written that down.
        await ann.do("PUT", f"{server.path}/settings", {"data": {"motd": "hi"}}, status=200)
    listed = {one["serverId"]: one["tempInstance"] for one in (await ann.get(SERVERS))["items"]}
    assert listed == {said.id: False, registered.id: True}
    world.clock.advance(SILENT_MS + 1)
    await clean_connect(world)
    assert (await said.get(f"{said.path}/claim-key"))["claimed"]
    assert (await registered.refused("GET", f"{registered.path}/claim-key"))[0] == 401


async def test_a_template_says_who_is_temporary(world: World):
    ann, bob = await world.players("Ann", "Bob")
    template = await claimed(world, ann, "Template")
    await template.do("PUT", f"{template.path}/settings", {"data": {"temp": True}}, status=200)
    await ann.do("PATCH", template.path, {"isTemplate": True}, status=200)
    copy, foreign = [await claimed(world, owner, "Copy", templateId=template.id) for owner in (ann, bob)]
    for owner, server, temporary in ((ann, copy, True), (bob, foreign, False)):
        listed = {one["serverId"]: one["tempInstance"] for one in (await owner.get(SERVERS))["items"]}
        assert listed[server.id] is temporary
    world.clock.advance(SILENT_MS + 1)
    await clean_connect(world)
    assert (await copy.refused("GET", f"{copy.path}/claim-key"))[0] == 401
    assert (await foreign.get(f"{foreign.path}/claim-key"))["claimed"]


async def test_a_template_sets_up_what_is_claimed_after_it(world: World):
    ann, bob = await world.players("Ann", "Bob")
    template = await claimed(world, ann, "Template")
    body = {"source": "shop", "schema": SCHEMA, "data": {"motd": "hi", "key": CANARY}}
    await template.do("PUT", f"{template.path}/settings", body, status=200)
    await ann.do("PATCH", template.path, {"isTemplate": True}, status=200)
    for owner, named, expected in (
        (ann, template.id, 1),
        (ann, template.id.upper(), 1),
        (bob, template.id, 0),
    ):
        server = await claimed(world, owner, "Copy", templateId=named)
        settings = await server.get(f"{server.path}/settings", source="shop")
        assert settings["version"] == expected
        assert settings["data"].get("key") == (CANARY if expected else None)
    lonely = await register(world, "Lonely", templateId=ann.id)
    await ann.do("POST", "/v1/connect/servers/claim", {"claimKey": lonely.claim_key}, status=200)
