"""What a browser keeps while its user signs in at another issuer, sealed: nobody else can make, read or change it."""

from hashlib import sha256
from hmac import compare_digest

import msgspec

from actors.sessions.units_identities import Linking
from actors.vault import NONCE_BYTES, Vault
from routes.call import Call
from routes.edge.identity.base64url import from_base64url, to_base64url
from routes.sessions.browser import flow_cookie, new_secret

FLOW_MS = 10 * 60_000
"""How long signing in at an issuer may take."""

_BOUND_TO = b"sign-in flow"


class Flow(msgspec.Struct, frozen=True):
    """A sign-in that is under way.

    Args:
        issuer: the issuer's name, as in addresses.
        state: random text that comes back with the browser (RFC 6749 §10.12).
        nonce: random text that comes back in the ID token.
        verifier: proves that whoever exchanges the code also asked for it (RFC 7636 §4.1).
        until_ms: when it expires, epoch milliseconds.
        linking: the user to link with the account; None if somebody signs in.
    """

    issuer: str
    state: str
    nonce: str
    verifier: str
    until_ms: int
    linking: Linking | None = None

    @property
    def challenge(self) -> str:
        """The code challenge: SHA-256 of the verifier (RFC 7636 §4.2, S256)."""
        return to_base64url(sha256(self.verifier.encode("ascii")).digest())

    def is_answered_by(self, state: str) -> bool:
        """Whether an answer with this state belongs to this sign-in."""
        return compare_digest(self.state.encode(), state.encode())


def new_flow(call: Call, issuer: str, linking: Linking | None = None) -> Flow:
    """A sign-in that begins now.

    Args:
        call: the request that begins it.
        issuer: the issuer's name, as in addresses.
        linking: the user to link with the account; None if somebody signs in.
    """
    state, nonce, verifier = (new_secret(call) for _ in range(3))
    return Flow(issuer, state, nonce, verifier, call.now_ms + FLOW_MS, linking)


def keeping(call: Call, flow: Flow) -> str:
    """The value of Set-Cookie that makes this browser keep the flow."""
    nonce = call.service.random_bytes(NONCE_BYTES)
    sealed = _vault(call).seal(msgspec.json.encode(flow), _BOUND_TO, nonce)
    return flow_cookie(call.service.config).setting(to_base64url(sealed), seconds=FLOW_MS // 1000)


def kept(call: Call) -> Flow | None:
    """The flow that this browser keeps; None if there is none, or it has expired."""
    text = flow_cookie(call.service.config).of(call.headers)
    if text is None:
        return None
    try:
        sealed = from_base64url(text)
    except ValueError:
        return None
    plain = _vault(call).open(sealed, _BOUND_TO)
    flow = None if plain is None else msgspec.json.decode(plain, type=Flow)
    return flow if flow is not None and flow.until_ms > call.now_ms else None


def _vault(call: Call) -> Vault:
    return Vault(call.service.keys.derive("sign-in flows"))
