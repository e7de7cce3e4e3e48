"""Tokens that are accepted, and each way to forge one."""

import hashlib
import hmac
import json
import uuid

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from routes.edge.identity.base64url import to_base64url
from routes.edge.identity.keys import Keys
from routes.edge.identity.names import NAME_MAX

NOW_S = 1_800_000_000


ANN = str(uuid.UUID(int=0xA11))


SECRET = "an HS256 secret of some thirty-two bytes or more"


RSA = rsa.generate_private_key(65537, 2048)


KEYS = Keys(Ed25519PrivateKey.from_private_bytes(bytes(range(32))), bytes(32))


OTHER_KEYS = Keys(Ed25519PrivateKey.from_private_bytes(bytes(32)), bytes(32))


def public_pem(key) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


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


HS = {"alg": "HS256", "typ": "JWT"}


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
