"""What a page of the console may do, as headers that browsers enforce."""

from urllib.parse import urlsplit

from routes.edge.config.table import Config
from routes.edge.outgoing import Headers

_DENIED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")


def page_headers(config: Config) -> Headers:
    """The headers of the console's page: it loads, asks and shows what is its own, runs no text as code, and is in no
    frame (CSP Level 3, Trusted Types).

    Args:
        config: names the console's address.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
        f"connect-src 'self' {_socket_origin(config)}; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    permissions = ", ".join(("clipboard-write=(self)", *(f"{feature}=()" for feature in _DENIED)))
    return [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", policy.encode("ascii")),
        (b"permissions-policy", permissions.encode("ascii")),
        (b"cross-origin-opener-policy", b"same-origin"),
        *_ISOLATED,
    ]


def asset_headers(media: str) -> Headers:
    """The headers of what the page loads: no other site may load it, and by itself it does nothing.

    Args:
        media: its media type.
    """
    return [
        (b"content-type", media.encode("ascii")),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
        *_ISOLATED,
    ]


_ISOLATED: Headers = [
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]


def _socket_origin(config: Config) -> str:
    """The console's own address for WebSockets, which not every browser counts as `'self'`."""
    parts = urlsplit(config.dashboard_url)
    return f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}"
