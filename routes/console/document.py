"""The one document behind every address below `/app`, and the headers under which it is shown.

It loads nothing from other origins and runs no script but its own modules: no inline script, no `eval`, no markup made
from strings (Trusted Types), and it is never shown in a frame.
"""

from base64 import b64encode
from hashlib import sha256

import orjson

from routes.console.joining import CONSOLE, LIBRARIES
from routes.console.static_files import STYLE_SHEET, StaticFiles
from routes.edge.outgoing import Headers
from routes.edge.pipeline.rendering import page_headers

HTML = "text/html; charset=utf-8"

_ISOLATION: Headers = [
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"clipboard-write=(self), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
]


def document(static: StaticFiles) -> bytes:
    """The document: style sheet, import map, and every script of the first view named ahead, so that a browser needs
    two round trips and not as many as scripts import each other.

    Args:
        static: all files of the console; `page.html` is the frame.
    """
    at = static.address
    replacements = {
        "{assets}": f"{at}/",
        "{styles}": f"{at}/{STYLE_SHEET}",
        "{console}": f"{at}/{CONSOLE}",
        "{import_map}": _import_map(static),
        "{preloads}": "\n".join(
            [f'<link rel="preload" as="fetch" href="{at}/text/en.json" crossorigin>']
            + [f'<link rel="modulepreload" href="{at}/{path}">' for path in static.imported_by(CONSOLE)]
        ),
    }
    text = static.contents["page.html"].decode()
    for mark, replacement in replacements.items():
        text = text.replace(mark, replacement)
    return text.encode()


def document_headers(static: StaticFiles, base_url: str) -> Headers:
    """The headers of the document.

    Args:
        static: all files of the console.
        base_url: the address of the service, to which the live socket connects.
    """
    return [*page_headers(HTML, _policy(static, base_url)), *_ISOLATION]


def asset_headers(media_type: str) -> Headers:
    """The headers of a script, style sheet or picture.

    Args:
        media_type: the media type of the file.
    """
    return [*page_headers(media_type, "default-src 'none'; frame-ancestors 'none'"), *_ISOLATION]


def _import_map(static: StaticFiles) -> str:
    imports = {name: f"{static.address}/{path}" for name, path in LIBRARIES.items()}
    return orjson.dumps({"imports": imports}).decode()


def _policy(static: StaticFiles, base_url: str) -> str:
    import_map = b64encode(sha256(_import_map(static).encode()).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' 'sha256-{import_map}'",
            "style-src 'self'",
            "img-src 'self' blob:",
            "font-src 'self'",
            # Older browsers do not take `'self'` for the scheme of WebSockets.
            f"connect-src 'self' {base_url.replace('http', 'ws', 1)}",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
