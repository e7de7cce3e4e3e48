"""The CORS headers: which pages of other origins may read responses (contract §3; Fetch standard, CORS protocol).

Pages of other origins send credentials in Authorization alone; cookies are for the service's own pages. So
`Access-Control-Allow-Credentials` is never sent.
"""

from dataclasses import dataclass

from routes.edge.outgoing import Headers

EXPOSED = (
    b"RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Age, Cache-Status, Idempotent-Replayed"
)
ALLOWED_HEADERS = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Prefer, Range, "
    b"X-Request-Id, X-Server-Id"
)
"""The headers that routes read and that a browser lets pages send only if listed here; with any other, it sends
nothing."""

PREFLIGHT_SECONDS = 600
"""How long a browser may cache a preflight; Chromium's own cap is two hours."""


@dataclass(frozen=True, slots=True)
class Cors:
    """The origins that are allowed by configuration.

    Args:
        origins: the allowed origins in lower case, `scheme://host[:port]`, or `*` for any.
    """

    origins: tuple[str, ...]

    def headers(self, origin: bytes | None) -> Headers:
        """The CORS headers of every response, refusals included; `Vary` keeps caches from mixing up origins.

        Args:
            origin: the request's Origin header, or None.
        """
        if not self.origins:
            return []
        vary = (b"vary", b"Origin")
        if origin is None or not self._allows(origin):
            return [vary]
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", EXPOSED),
            vary,
        ]

    def preflight(self, origin: bytes | None, methods: str) -> Headers:
        """The headers that a preflight response has in addition to `headers`.

        Args:
            origin: the request's Origin header, or None.
            methods: the methods of the route, separated by commas.
        """
        if origin is None or not self._allows(origin):
            return []
        return [
            (b"access-control-allow-methods", methods.encode("ascii")),
            (b"access-control-allow-headers", ALLOWED_HEADERS),
            (b"access-control-max-age", b"%d" % PREFLIGHT_SECONDS),
        ]

    def _allows(self, origin: bytes) -> bool:
        return "*" in self.origins or origin.decode("latin-1").lower() in self.origins
