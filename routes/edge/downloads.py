"""Files and cacheable answers over HTTP: ETag, conditional requests and one byte range (RFC 9110 §13, §14).

Files that users uploaded are served so that no browser runs them in the service's origin: as an attachment, without
content sniffing, in a sandbox.
"""

import hashlib
import re
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import quote

from routes.edge.errors import RangeNotSatisfiable
from routes.edge.incoming import Incoming
from routes.edge.outgoing import FileSlice, Headers, Outgoing
from routes.edge.reply import Blob

# The names of units have no case (RFC 9110 §14.1).
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)
_DATE = re.compile(rb"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")
_TAGS = re.compile(r'(?:W/)?"[^"]*"')
_UNSAFE_NAME = re.compile(r"[^\w.\- ()\[\]]", re.ASCII)


def blob_response(blob: Blob, incoming: Incoming, size_bytes: int) -> Outgoing:
    """The response that carries a file or a part of it, or 304 when the client has it.

    Args:
        blob: what to serve.
        incoming: the request; If-None-Match, Range and If-Range are read.
        size_bytes: the size of the whole content.

    Raises:
        RangeNotSatisfiable: the requested range lies outside the content.
    """
    tag = f'"{blob.etag}"'.encode("ascii")
    headers: Headers = [
        (b"etag", tag),
        (b"cache-control", blob.cache_control.encode("ascii")),
        (b"accept-ranges", b"bytes"),
        (b"content-security-policy", b"default-src 'none'; sandbox"),
    ]
    if is_named(incoming.header(b"if-none-match"), tag, weakly=True):
        return Outgoing(304, headers)
    headers.append((b"content-type", blob.content_type.encode("latin-1")))
    if blob.filename is not None:
        headers.append((b"content-disposition", disposition(blob.filename)))
    span = _asked_span(incoming, tag, size_bytes)
    if span is None:
        return Outgoing(200, headers, _part(blob.content, 0, size_bytes))
    start, length = span
    headers.append((b"content-range", b"bytes %d-%d/%d" % (start, start + length - 1, size_bytes)))
    return Outgoing(206, headers, _part(blob.content, start, length))


def with_etag(outgoing: Outgoing, incoming: Incoming, cache_control: str) -> Outgoing:
    """Add ETag and Cache-Control to a cacheable answer, or replace it with a 304 when the client has the same.

    Args:
        outgoing: the answer; returned unchanged unless it is a 200 with its body in memory.
        incoming: the request; If-None-Match is read, and where there is none, If-Modified-Since.
        cache_control: the value of Cache-Control.
    """
    if outgoing.status != 200 or not isinstance(outgoing.body, bytes):
        return outgoing
    tag = etag_of_content(outgoing.body)
    cached: Headers = [(b"etag", tag), (b"cache-control", cache_control.encode("ascii"))]
    known = incoming.header(b"if-none-match")
    # A date is not looked at where the client names a tag (RFC 9110 §13.2.2).
    if is_named(known, tag, weakly=True) or (known is None and _is_older(outgoing.headers, incoming)):
        return Outgoing(304, cached + [field for field in outgoing.headers if field[0] == b"vary"])
    return Outgoing(200, outgoing.headers + cached, outgoing.body)


def _is_older(headers: Headers, incoming: Incoming) -> bool:
    """Whether an answer with Last-Modified has not changed since the date in If-Modified-Since (RFC 9110 §13.1.3)."""
    modified = next((text for name, text in headers if name == b"last-modified"), None)
    asked = incoming.header(b"if-modified-since")
    if modified is None or asked is None:
        return False
    modified_s, asked_s = _date_s(modified), _date_s(asked)
    return modified_s is not None and asked_s is not None and modified_s <= asked_s


def _date_s(text: bytes) -> int | None:
    """An HTTP date in seconds of the epoch; None for anything else."""
    if _DATE.fullmatch(text) is None:
        return None
    try:
        return int(parsedate_to_datetime(text.decode("ascii")).timestamp())
    except ValueError:
        return None


def etag_of_content(content: bytes) -> bytes:
    """The ETag of a cacheable answer, with its quotes: a hash, so that different content has a different ETag."""
    return b'"%s"' % hashlib.sha256(content).hexdigest()[:32].encode("ascii")


def is_named(condition: bytes | None, tag: bytes, *, weakly: bool = False) -> bool:
    """Whether If-Match or If-None-Match names the tag, or every tag by `*` (RFC 9110 §13.1).

    Args:
        condition: the header's value; None, for no header, names nothing.
        tag: the ETag, with its quotes.
        weakly: whether a weak tag counts as well, as for If-None-Match and not for If-Match.
    """
    if condition is None:
        return False
    text = condition.decode("latin-1").strip()
    if text == "*":
        return True
    named = _TAGS.findall(text)
    if weakly:
        named = [known.removeprefix("W/") for known in named]
    return tag.decode("ascii") in named


def disposition(filename: str) -> bytes:
    """Content-Disposition of a download: an ASCII name for old clients, and the exact one as `filename*` (RFC 6266
    §4.3).

    Args:
        filename: any characters; in the ASCII form, those that could end the header or leave a folder are replaced.
    """
    plain = _UNSAFE_NAME.sub("_", filename)
    exact = quote(filename, safe="", errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}".encode("ascii")


def _asked_span(incoming: Incoming, tag: bytes, size_bytes: int) -> tuple[int, int] | None:
    """(start, length) of the requested range; None for the whole content, which is what HEAD asks for (RFC 9110
    §14.2).
    """
    asked = incoming.header(b"range") if incoming.method == "GET" else None
    condition = incoming.header(b"if-range")
    if asked is None or (condition is not None and condition != tag):
        return None
    form = _RANGE.fullmatch(asked.decode("latin-1").strip())
    if form is None or (not form[1] and not form[2]):
        # Several ranges, or another unit: a server may answer with the whole (RFC 9110 §14.2).
        return None
    if not form[1]:
        length = min(int(form[2]), size_bytes)
        start = size_bytes - length
    else:
        start = int(form[1])
        last = min(int(form[2]), size_bytes - 1) if form[2] else size_bytes - 1
        if form[2] and int(form[2]) < start:
            return None
        length = last - start + 1
    if length <= 0 or start >= size_bytes:
        raise RangeNotSatisfiable(headers={"content-range": f"bytes */{size_bytes}"})
    return start, length


def _part(content: bytes | Path, start: int, length: int) -> bytes | FileSlice:
    if isinstance(content, Path):
        return FileSlice(content, start, length)
    return content[start : start + length]
