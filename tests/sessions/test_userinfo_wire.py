"""Wire: what a user is called where the ID token does not say it (OpenID Connect Core §5.4), and what the log tells."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from routes.sessions.providers import FRESH_MS
from scripts.upstreams.http import Reply, as_json
from tests.sessions.issuer import CLIENT_SECRET, Issuer
from tests.sessions.place import Place
from tests.sessions.play import Browser
from tests.support.one_world import in_one_world


@contextmanager
def lying(issuer: Issuer, changed: Mapping[str, Any]) -> Iterator[None]:
    """Have attributes of an issuer be others for the block."""
    before = {name: getattr(issuer, name) for name in changed}
    vars(issuer).update(changed)
    yield
    vars(issuer).update(before)


async def test_a_name_that_only_userinfo_tells(place: Place) -> None:
    place.good.userinfo = as_json(200, {"sub": "4711", "name": "Ada Lovelace", "preferred_username": "ada"})
    assert (await place.user("4711")).name == "ada"


async def test_userinfo_is_asked_only_where_the_id_token_has_no_name(place: Place) -> None:
    place.good.userinfo = as_json(200, {"sub": "4711", "name": "Eve"})
    assert (await place.user("4711", name="Ada")).name == "Ada"
    assert place.good.asked_for("/userinfo") == 0


@in_one_world(
    "subject, userinfo",
    [
        ("1", as_json(200, {"sub": "another", "name": "Eve"})),
        ("2", as_json(200, {"name": "Eve"})),
        ("3", as_json(200, {"sub": "3", "name": 7})),
        ("4", as_json(200, {"sub": "4", "name": "a\u0000b"})),
        ("5", as_json(401, {"sub": "5", "name": "Eve"})),
        ("6", as_json(200, {"sub": "6", "name": "Eve", "more": "x" * 70_000})),
        ("7", Reply(200, b"eyJhbGciOiJSUzI1NiJ9.e30.AAAA", kind="application/jwt")),
    ],
)
async def test_userinfo_of_no_use_hinders_nobody(place: Place, subject: str, userinfo: Reply) -> None:
    asked = place.good.asked_for("/userinfo")
    place.good.userinfo = userinfo
    assert (await place.user(subject)).name == "Player"
    assert place.good.asked_for("/userinfo") == asked + 1


async def test_an_issuer_that_is_away_once_the_code_is_exchanged_hinders_nobody(place: Place) -> None:
    """What is known of it may run out between the two."""
    issuer = place.good
    issuer.userinfo = as_json(200, {"sub": "4711", "name": "Ada"})

    def sign(claims: dict[str, Any]) -> str:
        issuer.sign, issuer.status = None, 500
        place.world.advance(FRESH_MS + 1)
        return issuer.id_token(claims["sub"], claims["nonce"])

    issuer.sign = sign
    assert (await place.user("4711")).name == "Player"
    assert issuer.asked_for("/userinfo") == 0


async def test_userinfo_goes_over_https(place: Place) -> None:
    place.good.discovery = {"userinfo_endpoint": "http://attacker.example/"}
    assert (await place.user("4711")).name == "Player"


@pytest.mark.one_node(because="the log of one node is read")
@in_one_world(
    ("changed", "why"),
    [
        ({"status": 404}, "127.0.0.1: the server has answered 404"),
        (
            {"discovery": {"issuer": "https://a.example/"}},
            "discoveryUrl names another issuer than iss, which has to be equal to it",
        ),
        (
            {"discovery": {"token_endpoint": "http://a.example/"}},
            "discoveryUrl names addresses that are not https",
        ),
        (
            {"discovery": {"token_endpoint": 7}},
            "discoveryUrl answers no OpenID Provider Configuration",
        ),
    ],
)
async def test_the_log_says_once_why_nobody_can_sign_in(
    place: Place, changed: dict[str, Any], why: str
) -> None:
    with lying(place.good, changed), capture_logs() as lines:
        for _ in range(2):
            assert (await place.goes(Browser(place.world))).endswith("#error=unavailable")
    said = [line for line in lines if line["event"] == "users cannot sign in with an issuer"]
    assert [(line["issuer"], line["why"]) for line in said] == [(place.good.url, why)]


@pytest.mark.one_node(because="the log of one node is read")
@in_one_world(
    ("changed", "why"),
    [
        ({"secret": CLIENT_SECRET + "x"}, "the token endpoint answers 401, invalid_client"),
        ({"claims": {"exp": 1}}, "the ID token has expired, or is of later: the clocks differ"),
        ({"claims": {"aud": "another"}}, "the ID token is of another issuer, or for another client"),
        ({"header": {"kid": "of nobody"}}, "the ID token is signed with no key that jwksUrl has"),
    ],
)
async def test_the_log_says_why_a_sign_in_is_refused(place: Place, changed: dict[str, Any], why: str) -> None:
    with lying(place.good, changed), capture_logs() as lines:
        assert (await place.enters(Browser(place.world), "1")).endswith("#error=failed")
    said = [line for line in lines if line["event"] == "an issuer's answer to a sign-in is not valid"]
    assert [(line["issuer"], line["why"]) for line in said] == [(place.good.url, why)]
