"""Media types of request bodies: which are accepted, and in which encoding."""

from functools import lru_cache

from routes.edge.declare.endpoint import JSON_MEDIA
from routes.edge.errors import UnsupportedMedia
from routes.edge.incoming import Incoming

MAX_MEDIA_BYTES = 256
"""The longest Content-Type that is parsed, and then cached."""


def check_form(incoming: Incoming, taken: tuple[str, ...]) -> bool:
    """Check how a body is encoded, before it is read.

    Args:
        incoming: the request.
        taken: the media types that are accepted.

    Returns:
        Whether the body's media type is named; without one, only an empty body is accepted.

    Raises:
        UnsupportedMedia: the body is compressed, or of another media type.
    """
    encoding = incoming.header(b"content-encoding")
    if encoding is not None and encoding.strip().lower() != b"identity":
        raise UnsupportedMedia("the body must not be compressed")
    media = incoming.header(b"content-type")
    if media is None:
        return False
    if len(media) > MAX_MEDIA_BYTES:
        raise UnsupportedMedia(sentence(taken))
    check_media(media, taken)
    return True


@lru_cache(maxsize=256)
def check_media(media: bytes, taken: tuple[str, ...]) -> None:
    """Check that a body's media type is accepted.

    Args:
        media: the Content-Type header.
        taken: the media types that are accepted; `image/*` accepts all images.

    Raises:
        UnsupportedMedia: the media type is none of those, or the body is JSON in another encoding than UTF-8.
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
