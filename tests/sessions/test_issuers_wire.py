"""Wire: signing in at another issuer, against one that checks what it is sent, and with one that lies."""

import secrets
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
import trio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from actors.ids import new_uuid
from actors.time import iso, parse_iso
from routes.edge.errors import UpstreamUnavailable
from routes.sessions.parts import PROVIDERS
from tests.sessions.issuer import CLIENT_ID, CLIENT_SECRET
from tests.sessions.place import GO, IDENTITIES, Place, placed
from tests.sessions.play import DAY_MS, HOUR_MS, MINUTE_MS, SESSIONS, VERIFY, Browser
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until
from tests.support.world import Player


async def test_they_are_listed(place: Place) -> None:
    listed = await place.world.nobody().get("/v1/public/issuers")
    assert listed == {"items": [{"id": "good-games", "name": "Good Games"}, {"id": "other", "name": "Other"}]}


async def test_signing_in_makes_a_user_and_finds_them_again(place: Place) -> None:
    browser = Browser(place.world)
    assert await place.enters(browser, "4711", name="Ada", preferred_username="ada") == "/app"
    assert browser.cookies.keys() == {"partyline"}
    await browser.renew()
    assert browser.name == "ada"
    again = await place.user("4711", name="Somebody else now")
    assert (again.id, again.name) == (browser.id, "ada")
    (shown,) = (await again.get(IDENTITIES))["items"]
    assert (shown["issuer"], shown["name"]) == ("Good Games", "Somebody else now")
    assert {one["madeBy"] for one in (await again.get(SESSIONS))["items"]} == {"issuer"}
    other = await place.user("4712", name="ada")
    assert other.id != browser.id


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({}, "Player"),
        ({"name": " Ada\n"}, "Ada"),
        ({"name": "A" * 70}, "A" * 64),
        ({"name": 7, "nickname": "Ada"}, "Ada"),
        ({"name": "A\u0000da"}, "Player"),
    ],
)
async def test_names_that_issuers_tell(place: Place, claims: dict[str, Any], name: str) -> None:
    assert (await place.user("1", **claims)).name == name


async def test_a_subject_that_is_a_uuid_is_the_users_id(place: Place) -> None:
    ann = await place.world.player("Ann")
    browser = await place.user(ann.id)
    assert (browser.id, browser.name) == (ann.id, "Ann")
    stranger = new_uuid(secrets.token_bytes)
    assert (await place.user(stranger, name="Eve")).id == stranger


async def test_an_issuer_speaks_for_its_subjects_only_and_for_no_super_admin(database_url, tmp_path) -> None:
    async with placed(database_url, tmp_path, subjects="aaaa") as place:
        assert (
            await place.enters(Browser(place.world), new_uuid(lambda n: b"\xbb" * n))
            == "/app/sign-in#error=failed"
        )
        user = await place.user(new_uuid(lambda n: b"\xaa" * n), name="Ann")
        await place.world.service.database.transact(_promote, user.id)
        await user.renew()
        assert await user.refused("GET", "/v1/admin/audit") == (403, "FORBIDDEN")


async def _promote(conn, user_id: str) -> None:
    await conn.execute("INSERT INTO user_roles VALUES ($1, 'super-admin', 0)", user_id)
    await conn.execute("SELECT pg_notify('partyline_users', '')")


@pytest.mark.parametrize("methods", [["client_secret_basic", "client_secret_post"], ["client_secret_post"]])
async def test_how_the_client_authenticates(place: Place, methods: list[str]) -> None:
    place.good.discovery["token_endpoint_auth_methods_supported"] = methods
    await place.user("1")
    (asked,) = [one for one in place.good.asked if one.path == "/token"]
    assert ("authorization" in asked.headers) == ("client_secret_basic" in methods)


async def test_a_token_endpoint_is_asked_by_its_address_as_it_is(place: Place) -> None:
    """Some end in a slash, and are another without it; some have parts that are percent-encoded."""
    place.good.discovery["token_endpoint"] = f"{place.good.url}/of%20a/token/?tenant=a%20b&v=2"
    await place.user("1")
    (asked,) = [one for one in place.good.asked if one.method == "POST"]
    assert (asked.path, asked.query) == ("/of%20a/token/", {"tenant": "a b", "v": "2"})


# What goes wrong
# --------------------------------------------------------------------------------------------------------


async def refused(place: Place, browser: Browser, address: str) -> str:
    """The word that the sign-in page is given; nobody is signed in."""
    led_to = await place.comes_back(browser, address)
    assert "partyline" not in browser.cookies
    assert led_to.startswith("/app/sign-in#error=")
    return led_to.removeprefix("/app/sign-in#error=")


async def test_an_answer_is_for_the_browser_that_asked(place: Place) -> None:
    """Login CSRF: the attacker's own answer, opened in somebody else's browser."""
    attacker, victim, bystander = Browser(place.world), Browser(place.world), Browser(place.world)
    address = place.good.signed_in(await place.goes(attacker), "attacker")
    assert await refused(place, bystander, address) == "expired"
    await place.goes(victim)
    assert await refused(place, victim, address) == "expired"


async def test_an_answer_to_another_sign_in_does_not_end_this_one(place: Place) -> None:
    """Two tabs: the second sign-in takes the place of the first, whose answer then comes too late; and a page of others
    that leads the browser here can end none."""
    browser = Browser(place.world)
    first = place.good.signed_in(await place.goes(browser), "1")
    second = place.good.signed_in(await place.goes(browser), "1")
    assert await refused(place, browser, first) == "expired"
    assert await refused(place, browser, f"{GO}/callback?state=x&error=access_denied") == "expired"
    assert await refused(place, browser, second.replace("/good-games/", "/other/")) == "expired"
    assert await place.comes_back(browser, second) == "/app"


async def test_an_answer_is_used_once(place: Place) -> None:
    browser = Browser(place.world)
    led_to = await place.goes(browser)
    kept = dict(browser.cookies)
    address = place.good.signed_in(led_to, "1")
    assert await place.comes_back(browser, address) == "/app"
    replayed = Browser(place.world)
    assert await refused(place, replayed, address) == "expired"
    replayed.cookies = kept
    assert await refused(place, replayed, address) == "failed"


async def test_an_answer_of_another_issuer_is_refused(place: Place) -> None:
    """Mix-up: the browser was sent to one issuer, and comes back with the answer of another (RFC 9207)."""
    browser = Browser(place.world)
    address = place.good.signed_in(await place.goes(browser), "1")
    elsewhere = address.replace("/good-games/", "/other/")
    assert await refused(place, browser, elsewhere) == "expired"
    for changed in (f"iss={place.other.url}", "none=1"):
        browser = Browser(place.world)
        head, _, _ = place.good.signed_in(await place.goes(browser), "1").partition("&iss=")
        assert await refused(place, browser, f"{head}&{changed}") == "failed"
    assert [one for one in place.good.asked if one.path == "/token"] == []


async def test_an_issuer_that_does_not_name_itself_need_not(place: Place) -> None:
    place.good.discovery["authorization_response_iss_parameter_supported"] = False
    browser = Browser(place.world)
    head, _, _ = place.good.signed_in(await place.goes(browser), "1").partition("&iss=")
    assert await place.comes_back(browser, head) == "/app"


@in_one_world("changed", ["state=x", "state=", "nothing=1"])
async def test_the_state_must_be_the_one_that_was_sent(place: Place, changed: str) -> None:
    browser = Browser(place.world)
    asked = dict(parse_qsl(urlsplit(await place.goes(browser)).query))
    assert asked["redirect_uri"].endswith("/app/sign-in/good-games/callback")
    assert await refused(place, browser, f"{GO}/callback?code=x&iss={place.good.url}&{changed}") == "expired"


async def test_a_sign_in_takes_ten_minutes_at_most(place: Place) -> None:
    browser = Browser(place.world)
    address = place.good.signed_in(await place.goes(browser), "1")
    place.world.advance(10 * MINUTE_MS)
    assert await refused(place, browser, address) == "expired"


@pytest.mark.parametrize(("error", "word"), [("access_denied", "denied"), ("server_error", "failed")])
async def test_the_issuer_says_no(place: Place, error: str, word: str) -> None:
    browser = Browser(place.world)
    asked = dict(parse_qsl(urlsplit(await place.goes(browser)).query))
    said = f"error={error}&error_description=%3Cscript%3E&state={asked['state']}&iss={place.good.url}"
    assert await refused(place, browser, f"{GO}/callback?{said}") == word


def _of_another_key(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, Ed25519PrivateKey.generate(), algorithm="EdDSA", headers={"kid": "1"})


def _unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, algorithm="none", headers={"kid": "1"})


def _by_secret(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, CLIENT_SECRET * 2, algorithm="HS256", headers={"kid": "1"})


@in_one_world("sign", [_of_another_key, _unsigned, _by_secret, lambda _: "x.y.z", lambda _: ""])
async def test_who_has_signed_is_the_issuer(place: Place, sign: Any) -> None:
    """Also where the token names an algorithm of its own choice (RFC 8725 §3.1)."""
    place.good.sign = sign
    browser = Browser(place.world)
    assert await refused(place, browser, place.good.signed_in(await place.goes(browser), "1")) == "failed"


@in_one_world(
    "claims",
    [
        {"nonce": "x"},
        {"nonce": None},
        {"iss": "https://other.example"},
        {"aud": "another client"},
        {"aud": []},
        {"aud": [CLIENT_ID, "another client"]},
        {"azp": "another client"},
        {"exp": 1},
        {"iat": 9_999_999_999},
        {"exp": -1},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": "a\nb"},
        {"sub": 7},
    ],
)
async def test_what_an_id_token_must_say(place: Place, claims: dict[str, Any]) -> None:
    place.good.claims = claims
    browser = Browser(place.world)
    assert await refused(place, browser, place.good.signed_in(await place.goes(browser), "1")) == "failed"


async def test_several_audiences_with_our_client_as_the_party(place: Place) -> None:
    place.good.claims = {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID}
    await place.user("1")


@in_one_world(
    "discovery",
    [
        {"issuer": "https://other.example"},
        {"authorization_endpoint": "http://attacker.example/"},
        {"token_endpoint": "http://attacker.example/"},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": 7},
        {"authorization_endpoint": "https://good.example/\r\nset-cookie: a=b"},
        {"authorization_endpoint": "https://good.example/ü"},
        {"authorization_endpoint": "https://[::1"},
    ],
)
async def test_a_configuration_that_cannot_be_used(place: Place, discovery: dict[str, Any]) -> None:
    place.good.discovery = discovery
    assert (await place.goes(Browser(place.world))).endswith("/app/sign-in#error=unavailable")


@pytest.mark.one_node(because="each node reads the keys of issuers itself")
async def test_an_issuer_that_is_away(place: Place) -> None:
    place.good.status = 503
    assert (await place.goes(Browser(place.world))).endswith("/app/sign-in#error=unavailable")
    place.good.status = 200
    await place.user("1")
    assert _discoveries(place) == 2


@pytest.mark.one_node(because="each node asks issuers itself")
async def test_who_waits_for_an_issuer_that_is_away_is_told_with_the_first(place: Place) -> None:
    provider = place.world.service.of(PROVIDERS).find("good-games")
    assert provider is not None
    place.good.status, place.good.held = 503, trio.Event()

    async def ask() -> None:
        with pytest.raises(UpstreamUnavailable):
            await provider.discovered()

    async def is_asked() -> bool:
        return _discoveries(place) == 1

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
        await wait_until(is_asked)
        place.good.held.set()
    assert await is_asked()
    place.good.status = 200
    assert (await provider.discovered()).issuer == place.good.url


def _discoveries(place: Place) -> int:
    return len([one for one in place.good.asked if one.path.startswith("/.well-known")])


async def test_its_id_tokens_are_no_bearer_tokens(place: Place) -> None:
    """Nor what it has made for other clients: none of its tokens is a credential here unless `aud` says for whom."""
    user = new_uuid(secrets.token_bytes)
    for audience in (CLIENT_ID, "another client"):
        token = place.good.id_token(user, "x", name="Ann", aud=audience)
        response = await place.world.http.get(VERIFY, headers={"authorization": f"Bearer {token}"})
        assert response.status_code == 401


async def test_an_unknown_issuer(place: Place) -> None:
    for path in ("/app/sign-in/nobody", "/app/sign-in/nobody/callback"):
        assert await Browser(place.world).refused("GET", path) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "query",
    [
        "error_description=caf%E9&error=access_denied",
        f"code={'x' * 3_000}",
        "error=%C3%A9",
        "iss=%00",
        "a&" * 200,
    ],
    ids=["not UTF-8", "too long", "not ASCII", "a null", "too many"],
)
async def test_what_cannot_be_read_leads_to_the_sign_in_page(place: Place, query: str) -> None:
    """Also that of parameters which are not ours to read: a browser would show a problem document as a page."""
    browser = Browser(place.world)
    await place.goes(browser)
    assert await refused(place, browser, f"{GO}/callback?{query}") == "expired"


async def test_nowhere_else_is_led_to(place: Place) -> None:
    """No part of a request becomes an address: neither Host nor anything in the query."""
    browser = Browser(place.world)
    query = "next=https://attacker.example&redirect_uri=https://attacker.example&iss=https://attacker.example"
    response = await browser.ask(
        "GET",
        f"{GO}/callback?{query}",
        headers={"host": "attacker.example", "x-forwarded-host": "attacker.example"},
    )
    assert (
        response.headers["location"]
        == f"{place.world.service.config.dashboard_url}/app/sign-in#error=expired"
    )
    led_to = await place.goes(browser, f"{GO}?{query}")
    assert "attacker" not in led_to


async def test_a_session_that_renews_is_listed(place: Place) -> None:
    """Its issuer may not vouch for super-admins, so it lasts as long as anybody's, and longer than a super-admin's."""
    world = place.world
    user = await place.user("4711")
    await world.promote(user, "super-admin")
    world.advance(13 * HOUR_MS)
    own = Player(world, user.id, user.name, world.token(user.id, user.name))
    (shown,) = (await own.get(SESSIONS))["items"]
    assert shown["expiresAt"] == iso(parse_iso(shown["lastUsedAt"]) + 30 * DAY_MS)
    await user.renew()
