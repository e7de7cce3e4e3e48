"""Media types of request bodies: which are accepted, and in which encoding."""

from functools import lru_cache

from routes.edge.declare.endpoint import JSON_MEDIA
from routes.edge.errors import UnsupportedMedia


@lru_cache(maxsize=256)
def check_media(media: bytes, taken: tuple[str, ...]) -> None:
    """Check that a body's media type is accepted.

    Args:
        media: the Content-Type header.
        taken: accepted media types; `image/*` accepts all images.

    Raises:
        UnsupportedMedia: it is none of those, or JSON in another encoding than UTF-8.
    """
    kind, _, rest = media.decode("latin-1").lower().partition(";")
    kind = kind.strip()
    if not any(kind == known or (known.endswith("/*") and kind.startswith(known[:-1])) for known in taken):
        raise UnsupportedMedia(sentence(taken))
    charset = rest.strip().removeprefix("charset=").strip('"') if "charset=" in rest else "utf-8"
    if kind == JSON_MEDIA and charset not in {"utf-8", "utf8"}:
        raise UnsupportedMedia("JSON is UTF-8")


def sentence(taken: tuple[str, ...]) -> str:
    """The message of a refused media type."""
    return f"the body must be {' or '.join(taken)}"
