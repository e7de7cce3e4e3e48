"""What a browser sends: its session's cookie, and headers that show whether one of our own pages asks.

This is the only module that reads the cookie. Routes that call it declare `cookies=True`; no other route looks at
cookies, so pages of others cannot use any other route in a user's name.
"""

from hashlib import sha256
from urllib.parse import urlsplit

from actors.sessions.units import NewSession
from routes.call import Call
from routes.config.config import Config
from routes.edge.cookies import Cookie
from routes.edge.errors import OriginRefused
from routes.edge.identity.base64url import to_base64url

SECRET_BYTES = 32
"""A cookie, and likewise the code in a link, has 256 random bits."""

ADDRESS_MAX, BROWSER_MAX = 64, 200
"""Most characters of a client's address and of a browser's description that are kept."""


def session_cookie(config: Config) -> Cookie:
    """The cookie of a session."""
    return Cookie("partyline", "Strict", secure=_is_secure(config))


def flow_cookie(config: Config) -> Cookie:
    """The cookie of a sign-in that is under way at another issuer, which leads the browser back here by a link."""
    return Cookie("partyline-flow", "Lax", secure=_is_secure(config))


def hash_of(secret: str) -> bytes:
    """SHA-256 of a cookie's or link's secret, which is all that is stored of it."""
    return sha256(secret.encode()).digest()


def new_secret(call: Call) -> str:
    """256 fresh random bits as base64url."""
    return to_base64url(call.service.random_bytes(SECRET_BYTES))


def secret_of(call: Call) -> str | None:
    """The secret in the request's session cookie, unverified; None if there is none."""
    return session_cookie(call.service.config).of(call.headers)


def new_session(call: Call, secret: str) -> NewSession:
    """The session that this request begins.

    Args:
        call: the request.
        secret: the value that its cookie will have.
    """
    return NewSession(
        call.new_id(), hash_of(secret), call.client_address[:ADDRESS_MAX], browser_of(call), call.now_ms
    )


def browser_of(call: Call) -> str:
    """The client's User-Agent, with printable characters only, cut to `BROWSER_MAX`."""
    said = (call.header(b"user-agent") or b"").decode("latin-1")
    return "".join(sign for sign in said if sign.isprintable())[:BROWSER_MAX]


def is_same_origin(call: Call) -> bool:
    """Whether one of our own pages asks: a browser says so by Sec-Fetch-Site (Fetch Metadata), and by Origin where it
    sends that one only to trustworthy addresses.
    """
    site = call.header(b"sec-fetch-site")
    if site is not None:
        return site == b"same-origin"
    origin = (call.header(b"origin") or b"").decode("latin-1").lower()
    if not origin:
        return False
    scheme, _, authority = origin.partition("://")
    host = (call.header(b"host") or b"").decode("latin-1").lower()
    return (scheme in {"http", "https"} and authority == host) or origin == _own_origin(call.service.config)


def require_same_origin(call: Call) -> None:
    """Refuse a request that does not come from one of our own pages.

    Raises:
        OriginRefused: another page asks, or no browser does.
    """
    if not is_same_origin(call):
        raise OriginRefused("only pages of this service may ask for this")


def _own_origin(config: Config) -> str:
    parts = urlsplit(config.dashboard_url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _is_secure(config: Config) -> bool:
    return config.dashboard_url.startswith("https:")
