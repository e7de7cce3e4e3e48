"""Tokens: forty ways to forge one, and what an honest one must say (contract §2, RFC 8725)."""

import hashlib
import hmac
import json
import uuid
from base64 import urlsafe_b64encode
from types import SimpleNamespace

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from routes.edge.errors import TokenExpired, Unauthenticated, UpstreamUnavailable
from routes.edge.identity.base64url import from_base64url, to_base64url
from routes.edge.identity.issuer_settings import IssuerSettings, parse_issuers
from routes.edge.identity.issuers import Issuers
from routes.edge.identity.keys import Keys
from routes.edge.identity.names import NAME_MAX
from routes.edge.identity.tokens import verify_user_token

NOW_S = 1_800_000_000
NOW_MS = NOW_S * 1000
CLOCK = SimpleNamespace(now_ms=lambda: NOW_MS)
ANN = str(uuid.UUID(int=0xA11))
SECRET = "an HS256 secret of some thirty-two bytes or more"
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
KEYS = Keys(Ed25519PrivateKey.from_private_bytes(bytes(range(32))), bytes(32))
OTHER_KEYS = Keys(Ed25519PrivateKey.from_private_bytes(bytes(32)), bytes(32))


def public_pem(key) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


ISSUERS = Issuers(
    (
        IssuerSettings(iss="https://hs.example", alg="HS256", secret=SECRET),
        IssuerSettings(iss="https://rs.example", alg="RS256", public_key=public_pem(RSA), aud="partyline"),
        IssuerSettings(iss="https://es.example", alg="ES256", public_key=public_pem(EC)),
        IssuerSettings(iss="https://far.example", alg="RS256", jwks_url="https://far.example/keys"),
    ),
    CLOCK,
)


def encoded(value) -> str:
    return to_base64url(json.dumps(value, separators=(",", ":")).encode())


def own_header(**changes):
    return {"alg": "EdDSA", "typ": "JWT", "kid": KEYS.key_id, **changes}


def own_claims(**changes):
    claims = {
        "iss": "partyline", "aud": "partyline:user", "sub": ANN, "name": "Ann",
        "iat": NOW_S, "exp": NOW_S + 60, "jti": "1",
    }  # fmt: skip
    claims |= changes
    return {name: value for name, value in claims.items() if value is not ...}


def foreign_claims(iss, **changes):
    return own_claims(iss=iss, **{"aud": ..., **changes})


def signed(header, claims, key=KEYS.private_key) -> str:
    message = f"{encoded(header)}.{encoded(claims)}"
    return f"{message}.{to_base64url(key.sign(message.encode()))}"


def hs_signed(header, claims, secret) -> str:
    message = f"{encoded(header)}.{encoded(claims)}"
    return f"{message}.{to_base64url(hmac.digest(secret, message.encode(), hashlib.sha256))}"


def verify(token, now_ms=NOW_MS):
    return verify_user_token(token, KEYS, ISSUERS, now_ms)


def minted(ttl_seconds=60, name="Ann"):
    return KEYS.mint_user_token(ANN, name, now_ms=NOW_MS, ttl_seconds=ttl_seconds, random_bytes=bytes)


def test_a_minted_token():
    token = minted()
    verified = verify(token.token)
    assert (verified.user_id, verified.name, verified.issued_at_s) == (ANN, "Ann", NOW_S)
    assert verified.expires_at_ms == token.expires_at_ms == NOW_MS + 60_000
    claims = jwt.decode(token.token, options={"verify_signature": False})
    assert claims.keys() == {"iss", "aud", "sub", "name", "iat", "exp", "jti"}


HS = {"alg": "HS256", "typ": "JWT"}
HONEST = {
    "signed outside with our key": signed(own_header(), own_claims()),
    "without kid": signed({"alg": "EdDSA", "typ": "JWT"}, own_claims()),
    "upper-case sub": signed(own_header(), own_claims(sub=ANN.upper())),
    "times with fractions": signed(own_header(), own_claims(iat=NOW_S - 0.5, exp=NOW_S + 0.5)),
    "nbf now": signed(own_header(), own_claims(nbf=NOW_S)),
    "iat of a clock ahead": signed(own_header(), own_claims(iat=NOW_S + 60)),
    "HS256": hs_signed(HS, foreign_claims("https://hs.example"), SECRET.encode()),
    "HS256 without typ": hs_signed({"alg": "HS256"}, foreign_claims("https://hs.example"), SECRET.encode()),
    "HS256, access token": hs_signed(
        {**HS, "typ": "at+JWT"}, foreign_claims("https://hs.example"), SECRET.encode()
    ),
    "HS256, any kid and aud": hs_signed(
        {**HS, "kid": "7"}, foreign_claims("https://hs.example", aud=["a", "b"]), SECRET.encode()
    ),
    "RS256, one of several aud": jwt.encode(
        foreign_claims("https://rs.example", aud=["x", "partyline"]), RSA, algorithm="RS256"
    ),
    "ES256": jwt.encode(foreign_claims("https://es.example"), EC, algorithm="ES256"),
}


@pytest.mark.parametrize("token", HONEST.values(), ids=HONEST)
def test_honest(token):
    assert verify(token).user_id == ANN


RSA_PEM = public_pem(RSA).encode()
OWN_PUBLIC = KEYS.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
GOOD = signed(own_header(), own_claims())
DEEP = b'{"a":' + b"[" * 2_900 + b"]" * 2_900 + b"}"
HEAD, BODY, SIGNATURE = GOOD.split(".")
JWK = {
    "kty": "OKP",
    "crv": "Ed25519",
    "x": to_base64url(OTHER_KEYS.public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)),
}

FORGED = {
    "empty": "",
    "one part": "abc",
    "two parts": f"{HEAD}.{BODY}",
    "four parts": f"{GOOD}.x",
    "five parts (JWE)": f"{GOOD}.x.y",
    "too long": signed(own_header(), own_claims(pad="x" * 9000)),
    "not base64url": f"{HEAD}.{BODY}.{SIGNATURE[:-1]}+",
    "padded": f"{GOOD}==",
    "white space": f"{HEAD}.{BODY} .{SIGNATURE}",
    "no JSON in the header": f"{to_base64url(b'x')}.{BODY}.{SIGNATURE}",
    "header is a list": f"{to_base64url(b'[]')}.{BODY}.{SIGNATURE}",
    "claims are a list": signed(own_header(), []),
    "deep claims": f"{HEAD}.{to_base64url(b'[' * 5000)}.{SIGNATURE}",
    "alg none": f"{encoded({'alg': 'none', 'typ': 'JWT'})}.{BODY}.",
    "alg None, signature kept": f"{encoded({'alg': 'None', 'typ': 'JWT'})}.{BODY}.{SIGNATURE}",
    "alg empty": signed(own_header(alg=""), own_claims()),
    "alg is a number": signed(own_header(alg=1), own_claims()),
    "no alg": signed({"typ": "JWT"}, own_claims()),
    "no signature": f"{HEAD}.{BODY}.",
    "signature of another token": f"{HEAD}.{encoded(own_claims(name='Eve'))}.{SIGNATURE}",
    "another key": signed(own_header(), own_claims(), OTHER_KEYS.private_key),
    "another key and its kid": signed(
        own_header(kid=OTHER_KEYS.key_id), own_claims(), OTHER_KEYS.private_key
    ),
    "HS256 with our public key": hs_signed(own_header(alg="HS256"), own_claims(), OWN_PUBLIC),
    "HS256 with our public key, no kid": hs_signed(HS, own_claims(), OWN_PUBLIC),
    "HS256 with the issuer's RSA key": hs_signed(
        HS, foreign_claims("https://rs.example", aud="partyline"), RSA_PEM
    ),
    "HS256 with an empty secret": hs_signed(HS, foreign_claims("https://hs.example"), b""),
    "HS256 with another secret": hs_signed(HS, foreign_claims("https://hs.example"), SECRET.encode() + b"x"),
    "HS256 under our iss": hs_signed(HS, own_claims(), SECRET.encode()),
    "our key under a foreign iss": signed(own_header(), foreign_claims("https://hs.example")),
    "RS512 where RS256 is pinned": jwt.encode(
        foreign_claims("https://rs.example", aud="partyline"), RSA, algorithm="RS512"
    ),
    "PS256 where RS256 is pinned": jwt.encode(
        foreign_claims("https://rs.example", aud="partyline"), RSA, algorithm="PS256"
    ),
    "jwk in the header": signed(own_header(jwk=JWK), own_claims(), OTHER_KEYS.private_key),
    "jku in the header": signed(
        own_header(jku="https://evil.example/k"), own_claims(), OTHER_KEYS.private_key
    ),
    "x5u in the header": signed(
        own_header(x5u="https://evil.example/k"), own_claims(), OTHER_KEYS.private_key
    ),
    "kid is a path": signed(own_header(kid="../../../dev/null"), own_claims()),
    "kid is SQL": signed(own_header(kid="' OR 1=1 --"), own_claims()),
    "kid is a number": signed(own_header(kid=1), own_claims()),
    "unknown crit": signed(own_header(crit=["exp"]), own_claims()),
    "empty crit": signed(own_header(crit=[]), own_claims()),
    "b64 false": signed(own_header(b64=False, crit=["b64"]), own_claims()),
    "typ of a delegated token": signed(own_header(typ="partyline-delegated+jwt"), own_claims()),
    "typ missing on our own": signed({"alg": "EdDSA", "kid": KEYS.key_id}, own_claims()),
    "typ of another sort, foreign": hs_signed(
        {**HS, "typ": "secevent+jwt"}, foreign_claims("https://hs.example"), SECRET.encode()
    ),
    "aud of a delegated token": signed(own_header(), own_claims(aud="partyline:server")),
    "aud missing on our own": signed(own_header(), own_claims(aud=...)),
    "aud of somebody else": jwt.encode(
        foreign_claims("https://rs.example", aud="else"), RSA, algorithm="RS256"
    ),
    "aud only begins alike": jwt.encode(
        foreign_claims("https://rs.example", aud="party"), RSA, algorithm="RS256"
    ),
    "aud missing where one is wanted": jwt.encode(
        foreign_claims("https://rs.example"), RSA, algorithm="RS256"
    ),
    "iss unknown": hs_signed(HS, foreign_claims("https://evil.example"), SECRET.encode()),
    "iss only begins alike": hs_signed(HS, foreign_claims("https://hs.exampl"), SECRET.encode()),
    "iss longer": hs_signed(HS, foreign_claims("https://hs.example.evil"), SECRET.encode()),
    "iss missing": hs_signed(HS, own_claims(iss=..., aud=...), SECRET.encode()),
    "iss is a list": hs_signed(HS, foreign_claims(["https://hs.example"]), SECRET.encode()),
    "sub missing": signed(own_header(), own_claims(sub=...)),
    "sub no uuid": signed(own_header(), own_claims(sub="ann")),
    "sub in braces": signed(own_header(), own_claims(sub="{" + ANN + "}")),
    "sub without dashes": signed(own_header(), own_claims(sub=ANN.replace("-", ""))),
    "name missing": signed(own_header(), own_claims(name=...)),
    "name empty": signed(own_header(), own_claims(name="")),
    "name too long": signed(own_header(), own_claims(name="x" * (NAME_MAX + 1))),
    "name with NUL": signed(own_header(), own_claims(name="a\0b")),
    "name with a line": signed(own_header(), own_claims(name="a\nb")),
    "name turned around": signed(own_header(), own_claims(name="a\u202eb")),
    "name in white space": signed(own_header(), own_claims(name=" Ann")),
    "exp missing": signed(own_header(), own_claims(exp=...)),
    "exp is text": signed(own_header(), own_claims(exp=str(NOW_S + 60))),
    "exp true": signed(own_header(), own_claims(exp=True)),
    "exp beyond time": signed(own_header(), own_claims(exp=10**30)),
    "exp infinite": signed(own_header(), own_claims()).replace(BODY, to_base64url(b'{"exp":1e999}')),
    "iat missing": signed(own_header(), own_claims(iat=...)),
    "iat in the future": signed(own_header(), own_claims(iat=NOW_S + 61)),
    "iat negative": signed(own_header(), own_claims(iat=-1)),
    "nbf in a second": signed(own_header(), own_claims(nbf=NOW_S + 1)),
    "header too deep": f"{to_base64url(DEEP)}.{to_base64url(b'{}')}.{to_base64url(b's')}",
    "claims too deep": f"{HEAD}.{to_base64url(DEEP)}.{to_base64url(b's')}",
    "surrogates": f"{HEAD}.{to_base64url(b'{}')}.\ud800",
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED)
def test_forged(token):
    with pytest.raises(Unauthenticated) as refused:
        verify(token)
    assert (refused.value.code, refused.value.message) == ("UNAUTHENTICATED", Unauthenticated.sentence)


@pytest.mark.parametrize("late_ms", [0, 1, 10**9])
def test_expiry_has_no_leeway(late_ms):
    token = minted().token
    assert verify(token, NOW_MS + 59_999).user_id == ANN
    with pytest.raises(TokenExpired):
        verify(token, NOW_MS + 60_000 + late_ms)


def test_a_forged_token_is_not_told_that_it_has_expired():
    with pytest.raises(Unauthenticated) as refused:
        verify(signed(own_header(), own_claims(exp=NOW_S - 60), OTHER_KEYS.private_key))
    assert not isinstance(refused.value, TokenExpired)


def test_an_issuer_whose_keys_are_unknown_is_not_the_callers_fault():
    token = jwt.encode(foreign_claims("https://far.example"), RSA, algorithm="RS256")
    with pytest.raises(UpstreamUnavailable):
        verify(token)


CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/= \n"


@settings(max_examples=300)
@given(st.sampled_from([GOOD, HONEST["HS256"]]), st.data())
def test_any_changed_character_is_refused(token, data):
    at = data.draw(st.integers(0, len(token) - 1))
    character = data.draw(st.sampled_from([one for one in CHARACTERS if one != token[at]]))
    with pytest.raises(Unauthenticated):
        verify(token[:at] + character + token[at + 1 :])


def test_the_last_character_of_a_signature_counts_whole():
    """64 bytes leave four bits over, which most decoders ignore: sixteen spellings of one signature."""
    accepted = []
    for character in CHARACTERS[:64]:
        try:
            verify(GOOD[:-1] + character)
        except Unauthenticated:
            continue
        accepted.append(character)
    assert accepted == [GOOD[-1]]


@given(st.binary(max_size=40))
def test_base64url_has_one_spelling(raw):
    text = to_base64url(raw)
    assert text == urlsafe_b64encode(raw).decode().rstrip("=")
    assert from_base64url(text) == raw


@pytest.mark.parametrize("text", ["A", "AB", "A=", "AA==", "A A", "AA\n", "+/", "AAAAA", "Ä"])
def test_base64url_refuses_other_spellings(text):
    with pytest.raises(ValueError, match="base64url"):
        from_base64url(text)


def test_settings_reach_the_verifier():
    text = json.dumps([{"iss": "x", "alg": "HS256", "secret": SECRET, "aud": "me"}])
    issuers = Issuers(parse_issuers(text), CLOCK)
    token = hs_signed(HS, foreign_claims("x", aud="me"), SECRET.encode())
    assert verify_user_token(token, KEYS, issuers, NOW_MS).user_id == ANN
