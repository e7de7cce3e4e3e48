"""A small OpenID Connect provider on the loopback, which checks what a real one checks.

It knows one client. `signed_in` stands for its sign-in page: somebody has said yes there.
"""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import jwt
import trio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from scripts.upstreams.http import HttpServer, Reply, Request, as_json

CLIENT_ID, CLIENT_SECRET = "partyline-client", "canary-client-secret-Zx8:%"
ACCESS_TOKEN = "canary-access-token"


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Issuer:
    """One provider.

    Args:
        name: of the entry in the service's configuration.
        now_s: the time that its tokens tell, epoch seconds.
        secret: of the client; None for a public one.

    Attributes:
        discovery: what it says of itself beyond the necessary, or otherwise.
        claims: what its ID tokens say beyond the necessary, or otherwise.
        header: what their headers say otherwise.
        sign: makes an ID token of its claims; None signs with its key.
        asked: every request, in order.
        held: what it waits for before it answers; None answers at once.
        userinfo: what its userinfo endpoint answers whoever brings an access token of its own; None has no such one.
        kid: names its key, which `rotate` exchanges.
    """

    name: str
    now_s: Any
    secret: str | None = CLIENT_SECRET
    url: str = ""
    discovery: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    sign: Any = None
    asked: list[Request] = field(default_factory=list)
    status: int = 200
    held: trio.Event | None = None
    userinfo: Reply | None = None
    kid: str = "1"

    def __post_init__(self) -> None:
        self._rotations = 0
        self.rotate(self.kid)
        self._codes: dict[str, dict[str, Any]] = {}

    def entry(self, **more: Any) -> dict[str, Any]:
        """Its entry in `PARTYLINE_JWT_ISSUERS`."""
        secret = {} if self.secret is None else {"clientSecret": self.secret}
        return {
            "iss": self.url,
            "alg": "EdDSA",
            "jwksUrl": f"{self.url}/jwks.json",
            "name": self.name,
            "clientId": CLIENT_ID,
            "discoveryUrl": f"{self.url}/.well-known/openid-configuration",
            **secret,
            **more,
        }

    def signed_in(self, address: str, subject: str, **claims: Any) -> str:
        """Where the browser is led to once somebody has signed in at an address of ours.

        Args:
            address: that the service has led the browser to.
            subject: who.
            claims: beside, in the ID token.
        """
        asked = dict(parse_qsl(urlsplit(address).query, strict_parsing=True))
        assert address.startswith(f"{self.url}/authorize?")
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert (asked["code_challenge_method"], len(asked["code_challenge"])) == ("S256", 43)
        assert asked["scope"].split()[0] == "openid"
        code = f"canary-code-{len(self._codes)}"
        self._codes[code] = {**asked, "sub": subject, "claims": claims}
        answer = {"code": code, "state": asked["state"], "iss": self.url}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def rotate(self, kid: str) -> None:
        """Sign with another key from now on, and publish that one alone."""
        self.kid, self._rotations = kid, self._rotations + 1
        seed = sha256(f"{self.name} {self._rotations}".encode()).digest()
        self.key = Ed25519PrivateKey.from_private_bytes(seed)

    def asked_for(self, path: str) -> int:
        """How often it was asked for a path."""
        return [one.path for one in self.asked].count(path)

    async def handle(self, request: Request) -> Reply:
        """Answer a request."""
        self.asked.append(request)
        if self.held is not None:
            await self.held.wait()
        match f"{request.method} {request.path}":
            case "GET /.well-known/openid-configuration":
                return as_json(self.status, self._configuration())
            case "GET /jwks.json":
                public = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
                return as_json(
                    200, {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": _text(public)}]}
                )
            case "POST /token" | "POST /of%20a/token/":
                return self._token(request)
            case "GET /userinfo" if request.headers.get("authorization") == f"Bearer {ACCESS_TOKEN}":
                return self.userinfo or as_json(404, {})
        return as_json(404, {})

    def _configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "authorization_response_iss_parameter_supported": True,
            **({} if self.userinfo is None else {"userinfo_endpoint": f"{self.url}/userinfo"}),
            **self.discovery,
        }

    def _token(self, request: Request) -> Reply:
        form = request.form()
        asked = self._codes.pop(form["code"], None)
        if not self._knows(request.headers, form):
            return as_json(401, {"error": "invalid_client"})
        verifier = _text(sha256(form["code_verifier"].encode()).digest())
        if (
            asked is None
            or form["grant_type"] != "authorization_code"
            or verifier != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return as_json(400, {"error": "invalid_grant"})
        token = self.id_token(asked["sub"], asked["nonce"], **asked["claims"])
        return as_json(200, {"access_token": ACCESS_TOKEN, "token_type": "Bearer", "id_token": token})

    def id_token(self, subject: str, nonce: str, **more: Any) -> str:
        """An ID token."""
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": subject,
            "nonce": nonce,
            "iat": self.now_s(),
            "exp": self.now_s() + 60,
            **more,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.sign is not None:
            return str(self.sign(claims))
        return jwt.encode(claims, self.key, algorithm="EdDSA", headers={"kid": self.kid, **self.header})

    def _knows(self, headers: Mapping[str, str], form: Mapping[str, str]) -> bool:
        if self.secret is None:
            return form["client_id"] == CLIENT_ID and "authorization" not in headers
        if "authorization" in headers:
            pair = b64decode(headers["authorization"].removeprefix("Basic ")).decode()
            known, _, secret = pair.partition(":")
            return (unquote_plus(known), unquote_plus(secret)) == (CLIENT_ID, self.secret)
        return (form["client_id"], form.get("client_secret")) == (CLIENT_ID, self.secret)


@asynccontextmanager
async def serving(*issuers: Issuer) -> AsyncIterator[None]:
    """Run providers for the block."""
    async with trio.open_nursery() as nursery:
        for issuer in issuers:
            server = HttpServer(issuer.handle)
            await nursery.start(server.serve)
            issuer.url = f"http://127.0.0.1:{server.port}"
        yield
        nursery.cancel_scope.cancel()


def setting(*entries: Mapping[str, Any]) -> str:
    """`PARTYLINE_JWT_ISSUERS`."""
    return json.dumps(entries)
