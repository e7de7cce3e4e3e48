"""Tokens: forty ways to forge one, and what an honest one must say (contract §2, RFC 8725)."""

import json
from base64 import urlsafe_b64encode
from types import SimpleNamespace

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from routes.edge.errors import TokenExpired, Unauthenticated, UpstreamUnavailable
from routes.edge.identity.base64url import from_base64url, to_base64url
from routes.edge.identity.issuer_settings import IssuerSettings, parse_issuers
from routes.edge.identity.issuers import Issuers
from routes.edge.identity.tokens import verify_user_token
from tests.users.forgeries import (
    ANN,
    FORGED,
    GOOD,
    HS,
    KEYS,
    NOW_S,
    OTHER_KEYS,
    RSA,
    SECRET,
    foreign_claims,
    hs_signed,
    own_claims,
    own_header,
    public_pem,
    signed,
)

NOW_MS = NOW_S * 1000
CLOCK = SimpleNamespace(now_ms=lambda: NOW_MS)
EC = ec.generate_private_key(ec.SECP256R1())
ED = Ed25519PrivateKey.generate()


ISSUERS = Issuers(
    (
        IssuerSettings(iss="https://hs.example", alg="HS256", secret=SECRET),
        IssuerSettings(iss="https://rs.example", alg="RS256", public_key=public_pem(RSA), aud="partyline"),
        IssuerSettings(iss="https://es.example", alg="ES256", public_key=public_pem(EC)),
        IssuerSettings(iss="https://ed.example", alg="EdDSA", public_key=public_pem(ED)),
        IssuerSettings(iss="https://far.example", alg="RS256", jwks_url="https://far.example/keys"),
    ),
    CLOCK,
)


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
    "EdDSA": signed({"alg": "EdDSA"}, foreign_claims("https://ed.example"), ED),
    "EdDSA by its fully specified name": signed({"alg": "Ed25519"}, foreign_claims("https://ed.example"), ED),
}


@pytest.mark.parametrize("token", HONEST.values(), ids=HONEST)
def test_an_honest_token_is_verified(token):
    assert verify(token).user_id == ANN


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED)
def test_a_forged_token_is_refused_without_a_reason(token):
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


def test_keys_that_are_unknown_keep_nobody_out_who_has_another_of_the_issuers():
    """An issuer may be configured twice, with the keys that it publishes and with one that was handed over."""
    far = IssuerSettings(iss="https://far.example", alg="RS256", jwks_url="https://far.example/keys")
    near = IssuerSettings(iss="https://far.example", alg="RS256", public_key=public_pem(RSA))
    token = jwt.encode(foreign_claims("https://far.example"), RSA, algorithm="RS256")
    for entries in ((far, near), (near, far)):
        assert verify_user_token(token, KEYS, Issuers(entries, CLOCK), NOW_MS).user_id == ANN


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
