"""Other issuers: what may be configured, and how their published keys are fetched (contract §2, §11)."""

import contextlib
import gzip
import json
from functools import partial
from types import SimpleNamespace

import jwt
import pytest
import trio
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from structlog.testing import capture_logs

from routes.edge.identity.issuer_settings import parse_issuers
from routes.edge.identity.issuers import (
    FETCH_MAX_BYTES,
    REFRESH_SECONDS,
    RETRY_SECONDS,
    STALE_MS,
    Issuers,
    fetching_client,
    read_key_set,
)
from tests.users.forgeries import RSA

SHORT_RSA = rsa.generate_private_key(65537, 1024)
EC = ec.generate_private_key(ec.SECP256R1())
EC_384 = ec.generate_private_key(ec.SECP384R1())
SECRET = "x" * 32


def pem(key) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def jwk(key, kid="1", **more) -> dict:
    algorithm = (
        jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    )
    return json.loads(algorithm.to_jwk(key.public_key())) | {"kid": kid} | more


def key_set(*keys) -> bytes:
    return json.dumps({"keys": list(keys)}).encode()


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"iss": "", "alg": "HS256", "secret": SECRET}, "iss may not be empty"),
        ({"iss": "partyline", "alg": "HS256", "secret": SECRET}, "iss may not be"),
        ({"iss": "x", "alg": "HS256"}, "exactly one"),
        ({"iss": "x", "alg": "HS256", "secret": SECRET, "jwksUrl": "https://x"}, "exactly one"),
        ({"iss": "x", "alg": "HS256", "secret": "short"}, "32 bytes"),
        ({"iss": "x", "alg": "HS256", "publicKey": pem(RSA)}, "HS256 wants a secret"),
        ({"iss": "x", "alg": "HS256", "jwksUrl": "https://x"}, "HS256 wants a secret"),
        ({"iss": "x", "alg": "RS256", "secret": SECRET}, "not a secret"),
        ({"iss": "x", "alg": "none", "secret": SECRET}, "alg is none of"),
        ({"iss": "x", "alg": "RS256", "publicKey": "no PEM"}, "not a PEM"),
        ({"iss": "x", "alg": "RS256", "publicKey": pem(EC)}, "does not fit"),
        ({"iss": "x", "alg": "RS256", "publicKey": pem(SHORT_RSA)}, "too short"),
        ({"iss": "x", "alg": "ES256", "publicKey": pem(EC_384)}, "does not fit"),
        ({"iss": "x", "alg": "RS256", "jwksUrl": "file:///etc/passwd"}, "http"),
        ({"iss": "x", "alg": "RS256", "jwks": "https://x"}, "JSON array"),
        ({"iss": 7, "alg": "RS256", "jwksUrl": "https://x"}, "JSON array"),
    ],
)
def test_a_bad_issuer_is_named_in_one_line_without_its_secret(entry, line):
    with pytest.raises(ValueError, match=line) as refused:
        parse_issuers(json.dumps([entry]))
    assert "\n" not in str(refused.value)
    assert SECRET not in str(refused.value)


def test_two_names_of_one_algorithm() -> None:
    key = Ed25519PrivateKey.generate()
    entry = {"iss": "x", "alg": "Ed25519", "publicKey": pem(key)}
    assert [one.alg for one in parse_issuers(json.dumps([entry]))] == ["EdDSA"]
    published = json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key()))
    for alg in ("EdDSA", "Ed25519"):
        assert read_key_set(key_set(published | {"alg": alg}), "EdDSA")


def test_no_two_issuers_have_one_name() -> None:
    signing_in = {"clientId": "partyline", "discoveryUrl": "https://x/.well-known/openid-configuration"}
    one = {"iss": "a", "alg": "HS256", "secret": SECRET, "name": "Good Games", **signing_in}
    assert len(parse_issuers(json.dumps([one, one | {"iss": "b", "name": "Other"}]))) == 2
    with pytest.raises(ValueError, match="same name"):
        parse_issuers(json.dumps([one, one | {"iss": "b", "name": "good-games"}]))


@pytest.mark.parametrize("text", ["", "  ", "[]"])
def test_an_empty_setting_is_no_issuer(text):
    assert parse_issuers(text) == ()


def test_a_key_set_holds_only_what_fits():
    body = key_set(
        jwk(RSA, "good"),
        jwk(RSA, "for encryption", use="enc"),
        jwk(RSA, "another algorithm", alg="RS512"),
        jwk(SHORT_RSA, "short"),
        jwk(EC, "another sort"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
        {"kty": "RSA", "kid": "broken"},
        {},
    )
    assert set(read_key_set(body, "RS256")) == {"good"}


def test_a_private_key_is_passed_over_and_not_completed(monkeypatch):
    """To find the primes of a key that has none takes seconds, during which nobody else is served."""
    monkeypatch.setattr(jwt.algorithms, "rsa_recover_prime_factors", pytest.fail)
    private = {**jwk(RSA, "private"), "d": "AQAB"}
    assert set(read_key_set(key_set(private, jwk(RSA, "good")), "RS256")) == {"good"}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b'{"keys":[]}', b'{"keys":[7]}', b'{"keys":' + b"[" * 60_000, b'{"keys":"\xe9"}',
        key_set(jwk(EC)),
    ],
)  # fmt: skip
def test_a_key_set_without_a_usable_key_is_refused(body):
    with pytest.raises(ValueError, match=r"JWKS|no key"):
        read_key_set(body, "RS256")


class Published:
    """A web server that publishes a JWKS; it answers each connection once."""

    def __init__(self):
        self.status = b"200 OK"
        self.body = key_set(jwk(RSA, "a"))
        self.asked = 0
        self.heard = b""

    async def answer(self, stream):
        self.heard = await stream.receive_some()
        self.asked += 1
        fields = b"location: http://127.0.0.1:1/\r\nset-cookie: a=b\r\nconnection: close"
        head = b"HTTP/1.1 %b\r\n%b\r\n\r\n" % (self.status, fields)
        with contextlib.suppress(trio.BrokenResourceError):  # the client leaves when it has had too much
            await stream.send_all(head + self.body)
        await stream.aclose()


@pytest.fixture
async def published():
    published = Published()
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, published.answer, 0, host="127.0.0.1")
        (listener,) = await nursery.start(serve)
        published.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/keys"
        yield published
        nursery.cancel_scope.cancel()


@pytest.fixture
def clock():
    clock = SimpleNamespace(at_ms=1_000_000)
    clock.now_ms = lambda: clock.at_ms
    return clock


@pytest.fixture
def issuers(published, clock):
    text = json.dumps([{"iss": "x", "alg": "RS256", "jwksUrl": published.url}])
    return Issuers(parse_issuers(text), clock)


@pytest.fixture
async def client():
    async with fetching_client() as client:
        yield client


async def test_a_fetch_replaces_the_keys_and_counts_changes(issuers, published, client):
    (issuer,) = issuers.named("x")
    assert issuer.keys == {}
    assert await issuers.fetch(client, issuer)
    assert (list(issuer.keys), issuers.generation) == (["a"], 1)
    assert issuer.key_for("a") is issuer.key_for(None)
    assert issuer.key_for("b") is None
    assert await issuers.fetch(client, issuer)
    assert issuers.generation == 1
    published.body = key_set(jwk(RSA, "a"), jwk(RSA, "b"))
    assert await issuers.fetch(client, issuer)
    assert (set(issuer.keys), issuers.generation) == ({"a", "b"}, 2)
    assert issuer.key_for(None) is None


async def test_the_log_says_why_a_handshake_fails(issuers, published, clock, client):
    text = json.dumps([{"iss": "x", "alg": "RS256", "jwksUrl": published.url.replace("http:", "https:")}])
    over_tls = Issuers(parse_issuers(text), clock)
    with capture_logs() as lines:
        assert not await over_tls.fetch(client, *over_tls.named("x"))
    (line,) = lines
    assert "WRONG_VERSION_NUMBER" in line["error"] or "wrong version number" in line["error"]


async def test_neither_proxies_nor_cookies_change_a_fetch(issuers, published, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with fetching_client() as client:
        for _ in range(2):
            assert await issuers.fetch(client, *issuers.named("x"))
    assert b"cookie" not in published.heard.lower()


async def test_an_address_that_is_none_is_a_failed_fetch(clock, client):
    text = json.dumps([{"iss": "x", "alg": "RS256", "jwksUrl": "https://issuer:port/keys"}])
    issuers = Issuers(parse_issuers(text), clock)
    assert not await issuers.fetch(client, *issuers.named("x"))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (b"500 No", b""),
        (b"302 Found", b""),
        (b"200 OK", b"<html>"),
        (b"200 OK", key_set(jwk(EC))),
        (b"200 OK", b" " * (FETCH_MAX_BYTES + 1)),
        (b"200 OK\r\ncontent-encoding: gzip", gzip.compress(key_set(jwk(RSA, "b")))),
        (b"bad", b""),
    ],
)
async def test_what_cannot_be_fetched_leaves_the_keys_for_a_day(
    issuers, published, client, clock, status, body
):
    (issuer,) = issuers.named("x")
    await issuers.fetch(client, issuer)
    published.status, published.body = status, body
    clock.at_ms += STALE_MS
    assert not await issuers.fetch(client, issuer)
    assert list(issuer.keys) == ["a"]
    clock.at_ms += 1
    assert not await issuers.fetch(client, issuer)
    assert (issuer.keys, issuers.generation) == ({}, 2)


async def test_an_unknown_kid_fetches_nothing(issuers, published, client):
    (issuer,) = issuers.named("x")
    await issuers.fetch(client, issuer)
    for number in range(1000):
        assert issuer.key_for(str(number)) is None
    assert published.asked == 1


async def test_keys_are_fetched_on_schedule_and_sooner_after_failures(clock, autojump_clock, monkeypatch):
    issuers = Issuers(parse_issuers('[{"iss":"x","alg":"RS256","jwksUrl":"https://x.example"}]'), clock)
    at = []
    outcomes = iter([False, False, True, True])

    async def fetch(_client, _issuer):
        at.append(trio.current_time() - began)
        return next(outcomes, True)

    monkeypatch.setattr(issuers, "fetch", fetch)
    began = trio.current_time()
    with trio.move_on_after(2 * REFRESH_SECONDS):
        await issuers.keep_fresh()
    first_good = RETRY_SECONDS + 2 * RETRY_SECONDS
    assert at == [0, RETRY_SECONDS, first_good, first_good + REFRESH_SECONDS]


async def test_without_a_jwks_there_is_nothing_to_keep_fresh(clock):
    with trio.fail_after(1):
        await Issuers((), clock).keep_fresh()
