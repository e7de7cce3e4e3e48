"""The client's address behind proxies, and where credentials may stand."""

from base64 import urlsafe_b64encode

import pytest

from routes.edge.address import Proxies, _parsed, normal, parse_networks, rate_key
from routes.edge.errors import BadQuery, OriginRefused, TokenInQuery, Unauthenticated
from routes.edge.identity.credentials import (
    bearer,
    check_origin,
    protocol_bearer,
    query_token,
    refuse_query_token,
)

TRUSTED = parse_networks(["10.0.0.0/8", "::1"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),  # an untrusted peer may claim what it likes
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, 10.9.9.9"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1", "10.9.9.9"], "198.51.100.1"),
        ("10.0.0.1", ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense, 10.3.3.3"], "10.3.3.3"),
        ("::1", ["2001:db8::1"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["fe80::1%eth0"], "fe80::1"),
        ("", ["198.51.100.1"], "unknown"),
        ("10.0.0.1", ["198.51.100.1:49152"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::1]:443, 10.9.9.9:80"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.1", ["2001:db8::443"], "2001:db8::443"),
        ("10.0.0.1", ["198.51.100.1:x"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:"], "10.0.0.1"),
        ("10.0.0.1", ["[2001:db8::1]:443:1"], "10.0.0.1"),
        ("10.0.0.1", ["6.6.6.6," * 2_000 + "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1," + "10.9.9.9," * 31 + "10.9.9.9"], "10.9.9.9"),
        ("10.0.0.1", ["198.51.100.1", "x" * 8_000], "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_hop_that_no_proxy_of_ours_is(
    peer: str, forwarded: list[str], client: str
) -> None:
    headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
    assert Proxies(TRUSTED).client(peer, headers) == client


def test_header_of_ones_own_is_preferred_to_forwarded_for() -> None:
    proxies = Proxies(TRUSTED, b"cf-connecting-ip")
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"cf-connecting-ip", b"198.51.100.1")]
    assert proxies.client("10.0.0.1", headers) == "198.51.100.1"
    assert proxies.client("203.0.113.9", headers) == "203.0.113.9"
    assert proxies.client("10.0.0.1", headers[:1]) == "6.6.6.6"
    assert proxies.client("203.0.113.9", headers[:1]) == "203.0.113.9"
    # One that says nothing is not made up for by another.
    assert proxies.client("10.0.0.1", [*headers[:1], (b"cf-connecting-ip", b"nonsense")]) == "10.0.0.1"


def test_rate_key_counts_a_household() -> None:
    assert rate_key("2001:db8:1:2:3::4") == rate_key("2001:db8:1:2:ffff::9") == "2001:db8:1:2::/64"
    assert rate_key("198.51.100.1") == "198.51.100.1"
    assert (normal("::ffff:1.2.3.4"), normal("/run/socket")) == ("1.2.3.4", "unknown")


@pytest.mark.parametrize(
    ("header", "token"),
    [(None, None), (b"Bearer abc.def", "abc.def"), (b"bearer  abc", "abc"), (b"BEARER a-_~+/=", "a-_~+/=")],
)
def test_the_token_of_a_bearer_header(header: bytes | None, token: str | None) -> None:
    assert bearer(header) == token


@pytest.mark.parametrize(
    "header",
    [
        b"", b"Basic abc", b"Bearer", b"Bearer ", b"Bearer a b", b"Bearer a, Bearer b", b"Bearer \xff",
        b"Bearer " + b"x" * 16_384, b"abc",
    ],
)  # fmt: skip
def test_bearer_that_is_none(header: bytes) -> None:
    with pytest.raises(Unauthenticated):
        bearer(header)


JWT = "eyJh.eyJz.c2ln"
WRAPPED = urlsafe_b64encode(JWT.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        ([], (None, None)),
        (["svc.v1"], (None, "svc.v1")),
        (["chat"], (None, None)),
        (["svc.v1", f"svc-bearer.{JWT}"], (JWT, "svc.v1")),
        ([f"svc-bearer.{JWT}", "svc.v1"], (JWT, "svc.v1")),
        ([f"svc-bearer.{JWT}"], (JWT, f"svc-bearer.{JWT}")),
        (["svc.v1", f"svc-bearer.{WRAPPED}"], (JWT, "svc.v1")),
    ],
)
def test_protocol_bearer(offered: list[str], expected: tuple[str | None, str | None]) -> None:
    assert protocol_bearer(offered) == expected


@pytest.mark.parametrize(
    "offered",
    [
        [f"svc-bearer.{JWT}", f"svc-bearer.{JWT}"],
        ["svc-bearer."],
        ["svc-bearer.é"],
        ["svc-bearer.A"],
        ["svc-bearer.gIKA"],
    ],
)
def test_protocol_bearer_that_is_none(offered: list[str]) -> None:
    with pytest.raises(Unauthenticated):
        protocol_bearer(offered)


@pytest.mark.parametrize(
    "query",
    [b"token=x", b"a=1&access_token=", b"Bearer=x", b"authorization=x", b"%74oken=x", b"token"],
)
def test_a_credential_in_the_address_is_refused(query: bytes) -> None:
    with pytest.raises(TokenInQuery):
        refuse_query_token(query)


def test_query_without_a_token() -> None:
    refuse_query_token(b"")
    refuse_query_token(b"interval=1&tokens=2")
    assert query_token(b"interval=1") is None
    assert query_token(b"access_token=a.b%2Dc") == "a.b-c"


ALLOWED = ("https://app.example",)


@pytest.mark.parametrize(
    ("origin", "passes"),
    [
        (None, True),
        (b"https://app.example", True),
        (b"https://APP.example", True),
        (b"http://play.example:8080", True),  # our own
        (b"https://evil.example", False),
        (b"https://app.example.evil.example", False),
        (b"https://evilapp.example", False),
        (b"http://app.example", False),
        (b"null", False),
        (b"", False),
        (b"play.example:8080", False),
        (b"\xff", False),
        (b"http://[", False),
        (b"http://]", False),
        (b"http://[::1", False),
        (b"http://play.example:8080@evil.example", False),
        (b"http://evil.example#://play.example:8080", False),
        (b"ws://play.example:8080", False),
        (b"http://play.example:99999999", False),
    ],
)
def test_only_configured_origins_and_our_own_open_sockets(origin: bytes | None, *, passes: bool) -> None:
    if passes:
        check_origin(origin, b"play.example:8080", ALLOWED)
    else:
        with pytest.raises(OriginRefused):
            check_origin(origin, b"play.example:8080", ALLOWED)


def test_every_origin_may_open_sockets_where_a_star_says_so() -> None:
    check_origin(b"null", None, ("*",))


def test_no_address_is_remembered_that_is_none() -> None:
    """4,096 entries of 8 KB each would be kept for whoever writes them."""
    _parsed.cache_clear()
    Proxies(TRUSTED).client("10.0.0.1", [(b"x-forwarded-for", b"1" * 8_000)])
    assert _parsed.cache_info().currsize == 1


@pytest.mark.parametrize("query", [b"&" * 8_000, b"%61&" * 4_000, b"a=1&" * 100 + b"token=x"])
def test_no_query_is_searched_for_a_token_however_many_parameters_it_has(query: bytes) -> None:
    for search in (refuse_query_token, query_token):
        with pytest.raises(BadQuery):
            search(query)
