"""What operators and probes ask of a running service (contract §11)."""

import gzip
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import routes
from actors.ids import new_object_id, new_uuid
from actors.kernel.placement import LocalPlacement
from actors.users.permissions import Role
from actors.users.units_rights import enrol
from persistence.connection import Connection
from persistence.nodes.shards import ALL_SHARDS
from persistence.users.audit import Stamp
from routes.config.config import Config, read_config
from routes.domain import Domain
from routes.domains import DOMAINS
from routes.edge.docs.version import VERSION
from routes.edge.identity.keys import open_keys
from routes.edge.incoming import Incoming
from routes.edge.server.quart_app import EdgeApp
from routes.edge.unsent import SharedBytes
from routes.part import Opening, Part
from routes.service import Service
from routes.startup import open_service
from tests.edge.asgi import Answered
from tests.edge.asgi import request as asked
from tests.support.one_world import in_one_world
from tests.support.spec import Answer, spec
from tests.support.waiting import PATIENCE_SECONDS


async def request(app: EdgeApp, method: str, target: str, **given: Any) -> Answered:
    """Ask, and hold the answer against the OpenAPI document."""
    answer = await asked(app, method, target, **given)
    path = target.partition("?")[0]
    spec().check(
        Answer(method=method, path=path, status=answer.status, headers=answer.headers, body=answer.body)
    )
    return answer


def config_of(database_url: str, data: Path, **given: str) -> Config:
    """The configuration of a service that waits for its database however slow the machine is."""
    return read_config(
        {
            "PARTYLINE_DATABASE_URL": database_url,
            "PARTYLINE_DATA_DIR": str(data),
            "PARTYLINE_REQUEST_SECONDS": str(PATIENCE_SECONDS),
            **given,
        }
    )


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with open_service(config_of(database_url, tmp_path / "data"), DOMAINS) as service:
        yield service


@pytest.fixture
async def app(service: Service) -> AsyncIterator[EdgeApp]:
    app = routes.create_app(service=service)
    async with app.test_app():
        yield app


async def test_keys_that_others_can_read_are_closed_at_the_start(database_url: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    open_keys(data)
    secret = data / "keys" / "master.key"
    secret.chmod(0o644)
    async with open_service(config_of(database_url, data), DOMAINS):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600


async def test_rows_are_read_into_memory_once_nobody_else_can_write_them(
    database_url: str, tmp_path: Path
) -> None:
    """A process of before may still commit turns until its leases are taken over."""
    owned: list[int] = []

    async def owned_shards(conn: Connection) -> int:
        count: int = await conn.fetchval("SELECT count(*) FROM leases WHERE fence > 0")
        return count

    async def remember(opening: Opening) -> None:
        owned.append(await opening.database.read(owned_shards))

    first = Domain(name="remembering", mounts=(), parts=(Part(name="what is in rows", open=remember),))
    async with open_service(config_of(database_url, tmp_path / "data"), (first, *DOMAINS)):
        assert owned == [len(ALL_SHARDS)]


async def test_health_tells_version_uptime_and_checks(app: EdgeApp) -> None:
    answer = await request(app, "GET", "/health")
    assert answer.status == 200
    assert 0 <= answer.json.pop("uptimeMs") < PATIENCE_SECONDS * 1000
    assert {**answer.json, "uptimeMs": 0} == {
        "status": "ok",
        "version": VERSION,
        "uptimeMs": 0,
        "checks": {"database": "ok"},
    }


async def test_ready_is_ok_while_the_service_can_serve(app: EdgeApp) -> None:
    assert (await request(app, "GET", "/ready")).json == {"status": "ok"}


async def test_a_draining_service_is_not_ready(app: EdgeApp, service: Service) -> None:
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


async def test_what_another_process_has_taken_is_not_ready(app: EdgeApp, service: Service) -> None:
    """One of the same name, as from a copy of the data folder."""

    async def taken(conn: Connection) -> None:
        await conn.execute("UPDATE nodes SET life = nextval('node_lives')")

    placement = service.placement
    assert isinstance(placement, LocalPlacement)
    await service.database.transact(taken)
    await placement.renew()
    assert not await placement.take()
    answer = await request(app, "GET", "/ready")
    assert (answer.status, answer.code) == (503, "DATABASE_UNAVAILABLE")
    assert "another process" in answer.json["detail"]


async def test_metrics_are_in_the_text_form_of_prometheus(app: EdgeApp) -> None:
    await request(app, "GET", "/health")
    answer = await request(app, "GET", "/metrics", peer="127.0.0.1")
    assert answer.headers["content-type"].startswith("text/plain")
    assert b'partyline_http_requests_total{route="GET /health",status="200"} 1.0' in answer.body
    assert b"# TYPE partyline_sockets gauge" in answer.body
    [free] = re.findall(rb"^partyline_disk_free_bytes (\S+)$", answer.body, re.MULTILINE)
    assert float(free) > 0


LOCAL = {"peer": "127.0.0.1"}


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"peer": "127.0.0.1"}, 200),
        ({"peer": "::1"}, 200),
        ({"peer": "::ffff:127.0.0.1"}, 200),
        ({"peer": "198.51.100.1"}, 401),
        ({"peer": ""}, 401),
        (LOCAL | {"x_forwarded_for": "203.0.113.7"}, 401),
        (LOCAL | {"x_forwarded_for": "127.0.0.1"}, 401),
        (LOCAL | {"forwarded": "for=127.0.0.1"}, 401),
        (LOCAL | {"x_real_ip": "127.0.0.1"}, 401),
        (LOCAL | {"via": "1.1 proxy"}, 401),
        (LOCAL | {"x_forwarded_for": "203.0.113.7", "token": "scraper"}, 200),
        ({"token": "scraper"}, 200),
        ({"token": "scrapers"}, 401),
        ({"token": "scrape"}, 401),
        ({"authorization": "Basic scraper"}, 401),
    ],
)
async def test_metrics_are_not_for_strangers(
    database_url: str, tmp_path: Path, given: dict[str, str], status: int
) -> None:
    """Trusted or not: what a proxy forwards is not from this machine."""
    config = config_of(
        database_url,
        tmp_path / "data",
        PARTYLINE_METRICS_TOKEN="scraper",
        PARTYLINE_TRUSTED_PROXIES="127.0.0.1" if len(given) % 2 else "",
    )
    async with open_service(config, DOMAINS) as service:
        app = routes.create_app(service=service)
        async with app.test_app():
            assert (await request(app, "GET", "/metrics", **given)).status == status


async def test_without_a_token_metrics_are_for_this_machine_alone(app: EdgeApp) -> None:
    for token in (None, "None", "x"):
        assert (await request(app, "GET", "/metrics", token=token)).code == "UNAUTHENTICATED"


@in_one_world("path", ["/openapi.json", "/asyncapi.json", "/docs", "/docs/swagger-ui-bundle.js"])
async def test_documents_are_compressed_once_and_shared(app: EdgeApp, service: Service, path: str) -> None:
    plain = await request(app, "GET", path)
    packed = await asked(app, "GET", path, accept_encoding="br, gzip")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert int(packed.headers["content-length"]) == len(packed.body) < len(plain.body)
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    tags = {plain.headers["etag"], packed.headers["etag"]}
    assert len(tags) == 2
    assert not any(tag.startswith("W/") for tag in tags)
    known = {"if_none_match": packed.headers["etag"]}
    assert (await asked(app, "GET", path, accept_encoding="gzip", **known)).status == 304
    assert (await asked(app, "GET", path, **known)).status == 200
    held = service.documents.held_bytes
    bodies = [await body_of(app, path) for _ in range(2)]
    assert bodies[0] is bodies[1]
    assert isinstance(bodies[0], SharedBytes)
    assert held == service.documents.held_bytes


async def body_of(app: EdgeApp, path: str) -> object:
    """The very object that a server is to send."""
    incoming = Incoming("GET", path, {}, query=b"", headers=[], peer="", receive=_nothing)
    outgoing = await app.answer(incoming)
    assert outgoing is not None
    return outgoing.body


async def _nothing() -> tuple[bytes, bool]:
    return b"", False


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
    assert answer.json == {"total": 0, "matched": 0, "kinds": [], "items": []}
