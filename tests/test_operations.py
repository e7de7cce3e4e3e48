"""What operators and probes ask of a running service (contract §11)."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import routes
from actors.administration import enrol
from actors.ids import new_object_id, new_uuid
from actors.permissions import Role
from persistence.audit import Stamp
from persistence.connection import Connection
from routes.edge.config import read_config
from routes.edge.quart_app import EdgeApp
from routes.edge.version import VERSION
from routes.service import Service, open_service
from tests.edge.asgi import Answered
from tests.edge.asgi import request as asked
from tests.support.spec import spec


async def request(app: EdgeApp, method: str, target: str, **given: str | None) -> Answered:
    """Ask, and hold the answer against the OpenAPI document."""
    answer = await asked(app, method, target, **given)
    media = answer.headers.get("content-type", "")
    spec().check(method, target.partition("?")[0], status=answer.status, media=media, body=answer.body)
    return answer


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Service]:
    config = read_config(
        {"PARTYLINE_DATABASE_URL": database_url, "PARTYLINE_DATA_DIR": str(tmp_path / "data")}
    )
    async with open_service(config) as service:
        yield service


@pytest.fixture
async def app(service: Service) -> AsyncIterator[EdgeApp]:
    app = routes.create_app(service=service)
    async with app.test_app():
        yield app


async def test_health(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/health")
    assert answer.status == 200
    assert 0 <= answer.json.pop("uptimeMs") < 60_000
    assert {**answer.json, "uptimeMs": 0} == {
        "status": "ok",
        "version": VERSION,
        "uptimeMs": 0,
        "checks": {"database": "ok"},
    }


async def test_ready(app: EdgeApp) -> None:
    assert (await request(app, "GET", "/ready")).json == {"status": "ok"}


async def test_draining(app: EdgeApp, service: Service) -> None:
    service.lifecycle.drain()
    assert (await request(app, "GET", "/health")).json["status"] == "draining"
    ready = await request(app, "GET", "/ready")
    assert (ready.status, ready.code, ready.headers["retry-after"]) == (503, "DRAINING", "1")


async def test_missing_migration_is_not_ready(app: EdgeApp, service: Service) -> None:
    async def forget(conn: Connection) -> None:
        await conn.execute("DELETE FROM schema_migrations WHERE name LIKE '0003%'")

    await service.database.transact(forget)
    answer = await request(app, "GET", "/ready")
    assert (answer.status, answer.code) == (503, "DATABASE_UNAVAILABLE")
    assert [name[:4] for name in answer.json["meta"]["migrations"]] == ["0003"]


async def test_metrics(app: EdgeApp) -> None:
    await request(app, "GET", "/health")
    answer = await request(app, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert b'partyline_http_requests_total{route="GET /health",status="200"} 1.0' in answer.body
    assert b"# TYPE partyline_sockets gauge" in answer.body


async def test_descriptions_are_kept_by_clients(app: EdgeApp) -> None:
    for path, key, version in (
        ("/openapi.json", "openapi", "3.1.0"),
        ("/asyncapi.json", "asyncapi", "3.0.0"),
    ):
        answer = await request(app, "GET", path)
        assert (answer.status, answer.json[key]) == (200, version)
        again = await request(app, "GET", path, if_none_match=answer.headers["etag"])
        assert (again.status, again.body) == (304, b"")


async def test_docs_need_nothing_from_outside(app: EdgeApp) -> None:
    page = await request(app, "GET", "/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    used = re.findall(rb'(?:src|href)="([^"]+)"', page.body)
    assert used
    for target in used:
        answer = await request(app, "GET", target.decode())
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/")
    assert (await request(app, "GET", "/docs/NOTICE")).code == "NOT_FOUND"
    assert (await request(app, "GET", "/docs/../docs.html")).code == "ROUTE_NOT_FOUND"


async def test_actors_are_for_super_admins(app: EdgeApp, service: Service) -> None:
    assert (await request(app, "GET", "/v1/admin/actors")).code == "UNAUTHENTICATED"
    now_ms = service.clock.now_ms()
    for role, status in ((None, 403), (Role.SUPER_ADMIN, 200)):
        user_id = new_uuid(service.random_bytes)
        stamp = Stamp(new_object_id(now_ms, service.random_bytes), now_ms, None, None)
        await service.database.transact(enrol, user_id, "Root", role, stamp)
        minted = service.keys.mint_user_token(
            user_id, "Root", now_ms=now_ms, ttl_seconds=60, random_bytes=service.random_bytes
        )
        answer = await request(app, "GET", "/v1/admin/actors", token=minted.token)
        assert answer.status == status
    assert answer.json == {"items": []}
