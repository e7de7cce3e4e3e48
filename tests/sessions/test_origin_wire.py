"""Wire: the session's cookie is looked at by a few routes, when one of our own pages asks, and by nobody else."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from routes import TABLE, create_app
from routes.edge.principal import PUBLIC, SERVER
from routes.edge.server.server import ServerSettings
from routes.users.setup import setup_link
from tests.contract.sources import sources
from tests.edge.certificate import Certificate
from tests.sessions.play import CURRENT, LINKS, RENEW, SESSIONS, VERIFY, Browser, link_of, signed_in
from tests.support.one_world import in_one_world
from tests.support.server import running
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import World, open_world

LOOKING = {
    "POST /v1/sessions",
    "POST /v1/sessions/renew",
    "DELETE /v1/sessions/current",
    "POST /v1/sign-in-links",
    "POST /v1/profile/identities",
    "GET /app/sign-in/{issuer}",
    "GET /app/sign-in/{issuer}/callback",
}
"""The routes that take cookies: those of signing in, and those that ask whether the browser itself is there."""

READERS = {"routes/edge/cookies.py", "routes/sessions/browser.py", "routes/sessions/flow.py"}
"""The modules that know how a cookie is read."""


def test_few_routes_take_cookies() -> None:
    assert {route.line for route in TABLE.endpoints if route.cookies} == LOOKING


def test_few_modules_read_cookies() -> None:
    found = {
        source.path
        for source in sources("routes")
        if 'b"cookie"' in source.text
        or "cookie(call.service.config).of(" in source.text
        or ".cookies.of(" in source.text
    }
    assert found == READERS


FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {"sec-fetch-site": "cross-site", "origin": "$own"},
    {"sec-fetch-site": "", "origin": "$own"},
    {"origin": "https://attacker.example"},
    {"origin": "null"},
    {"origin": "$own.attacker.example"},
    {"origin": "file://$host"},
    {},
]
OURS = [{"sec-fetch-site": "same-origin"}, {"origin": "$own"}, {"origin": "$dashboard"}]


def _filled(world: World, headers: dict[str, str]) -> dict[str, str]:
    own = str(world.http.base_url).removesuffix("/")
    host = own.partition("://")[2]
    named = {"$own": own, "$host": host, "$dashboard": world.service.config.dashboard_url}
    for name, text in named.items():
        headers = {header: value.replace(name, text) for header, value in headers.items()}
    return headers


@pytest.mark.both_edges
@in_one_world(("headers", "ours"), [*((one, True) for one in OURS), *((one, False) for one in FOREIGN)])
async def test_who_may_ask(world: World, headers: dict[str, str], *, ours: bool) -> None:
    """CSRF, and login CSRF: another page neither uses the cookie nor sets one."""
    browser = await signed_in(await world.player("Ann"))
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    said = {"cookie": cookie, **_filled(world, headers)}
    code = await link_of(browser)
    for method, path, body, status in (
        ("POST", SESSIONS, {"code": code}, 201),
        ("POST", RENEW, None, 200),
        ("DELETE", CURRENT, None, 204),
    ):
        response = await world.http.request(method, path, json=body, headers=said)
        world.http.cookies.clear()
        assert response.status_code == (status if ours else 403), (path, response.text)
        if not ours:
            assert "set-cookie" not in response.headers
    assert await browser.is_out() is ours


@pytest.mark.both_edges
async def test_a_cookie_alone_opens_no_other_route(world: World) -> None:
    browser = await signed_in(await world.player("Ann"))
    browser.forget()
    asked = [
        route
        for route in TABLE.endpoints
        if route.line not in LOOKING and "{" not in route.path and route.needs not in {PUBLIC, SERVER}
    ]
    for route in asked:
        response = await browser.ask(route.method, route.path, None if route.shape is None else {})
        assert response.status_code == 401, route.line
    assert len(asked) > 50


@in_one_world(
    "cookie",
    [
        "partyline=",
        "partyline=x",
        "partyline=" + "x" * 5000,
        "Partyline=$",
        "a=$",
        "partyline=$; partyline=$",
    ],
)
async def test_cookies_that_are_none(world: World, cookie: str) -> None:
    browser = await signed_in(await world.player("Ann"))
    secret = browser.cookies["partyline"]
    other = Browser(world)
    response = await other.ask("POST", RENEW, headers={"cookie": cookie.replace("$", secret)})
    assert (response.status_code, response.json()["code"]) == (401, "UNAUTHENTICATED")
    assert other.set == ["partyline=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"]
    assert not await browser.is_out()


@pytest.mark.one_node(because="it counts to the last token")
async def test_wrong_cookies_are_counted(world: World) -> None:
    world.clock.stop()
    other = Browser(world)
    statuses = [
        (await other.ask("POST", RENEW, headers={"cookie": "partyline=" + "A" * 43})).status_code
        for _ in range(61)
    ]
    assert statuses == [401] * 60 + [429]


@pytest.fixture
async def behind_tls(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path, base_url="https://play.example") as world:
        yield world


async def test_where_https_leads_here_the_cookie_is_bound_to_it(behind_tls: World) -> None:
    browser = await signed_in(await behind_tls.player("Ann"))
    code = await link_of(browser)
    (said,) = (await _entered(behind_tls, code)).headers.get_list("set-cookie")
    assert said.startswith("__Host-partyline=")
    assert said.endswith("; HttpOnly; SameSite=Strict; Secure")
    assert "Domain" not in said
    secret = browser.cookies["__Host-partyline"]
    renamed = await Browser(behind_tls).ask("POST", RENEW, headers={"cookie": f"partyline={secret}"})
    assert renamed.status_code == 401
    await browser.renew()


async def _entered(world: World, code: str) -> httpx2.Response:
    return await Browser(world).ask(
        "POST", SESSIONS, {"code": code}, headers={"origin": "https://play.example"}
    )


@pytest.mark.parametrize("http2", [False, True])
async def test_cookies_that_come_in_pieces_are_read(
    database_url: str, tmp_path: Path, *, http2: bool
) -> None:
    """Cookies come in pieces over HTTP/2 (RFC 9113 §8.2.3)."""
    certificate = Certificate(tmp_path)
    settings = ServerSettings(certificate=certificate.server)
    async with open_world(database_url, tmp_path / "data", base_url="https://play.example") as world:
        code = await link_of(await world.player("Ann"))
        async with (
            running(create_app(service=world.service), settings=settings) as url,
            httpx2.AsyncClient(
                base_url=url, verify=certificate.trusting(), http2=http2, timeout=PATIENCE_SECONDS
            ) as client,
        ):
            ours = {"sec-fetch-site": "same-origin"}
            begun = await client.post(SESSIONS, json={"code": code}, headers=ours)
            assert (begun.status_code, begun.http_version) == (201, "HTTP/2" if http2 else "HTTP/1.1")
            secret = begun.headers["set-cookie"].partition(";")[0]
            client.cookies.clear()
            pieces = [("cookie", "a=b"), ("cookie", secret), ("sec-fetch-site", "same-origin")]
            renewed = await client.post(RENEW, headers=pieces)
            assert renewed.status_code == 200


@pytest.mark.both_edges
async def test_the_setup_page_signs_its_browser_in(world: World) -> None:
    link = await setup_link(
        world.service.database,
        world.url,
        now_ms=world.clock.now_ms(),
        random_bytes=world.service.random_bytes,
    )
    assert link is not None
    browser, body = Browser(world), {"code": link.partition("code=")[2], "name": "Ada"}
    made = await browser.do("POST", "/v1/setup", body, status=201)
    await browser.renew()
    assert (browser.id, browser.name) == (made["userId"], "Ada")
    assert (await browser.get(SESSIONS))["items"][0]["madeBy"] == "setup"
    assert "admin:user:view" in (await browser.get(VERIFY))["permissions"]
    again = Browser(world)
    assert (await again.refused("POST", "/v1/setup", body))[0] == 409
    assert again.cookies == {}


async def test_a_script_that_sets_up_gets_a_token_alone(world: World) -> None:
    link = await setup_link(
        world.service.database,
        world.url,
        now_ms=world.clock.now_ms(),
        random_bytes=world.service.random_bytes,
    )
    assert link is not None
    body = {"code": link.partition("code=")[2], "name": "Ada"}
    response = await world.http.post("/v1/setup", json=body)
    assert (response.status_code, "set-cookie" in response.headers) == (201, False)
    assert await world.service.database.read(_sessions) == 0


async def _sessions(conn) -> int:
    return await conn.fetchval("SELECT count(*) FROM sessions")


async def test_a_kept_answer_is_never_without_its_cookie(world: World) -> None:
    """An Idempotency-Key keeps no answer of these routes: a repetition would sign nobody in."""
    ann, headers = await world.player("Ann"), {"idempotency-key": "once"}
    code = await link_of(ann)
    first = await Browser(world).ask("POST", SESSIONS, {"code": code}, headers=headers)
    again = await Browser(world).ask("POST", SESSIONS, {"code": code}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 404)
    links = [(await ann.ask("POST", LINKS, headers=headers)).json()["url"] for _ in range(2)]
    assert len(set(links)) == 2
