"""An upload's way from base64 to the JSON that is kept: bounded first, then decoded, checked, and encoded anew.

What is served is what was checked, never the bytes that came: members that are named twice, white space and byte
order marks are gone. All of it costs some milliseconds, and is done in a worker thread.
"""

import base64
import binascii
from collections.abc import Callable

import msgspec

from actors.errors import FieldError, Invalid, TooLarge
from actors.stored_json import values_in
from actors.totems.blockbench import check_blockbench
from actors.totems.flaws import DATA, Json, Object
from actors.totems.item_model import check_item_model
from persistence.totems.totems import Format

MAX_BYTES = 512 * 1024
"""Of the JSON (contract §8)."""

MAX_DEPTH = 32
"""Levels of arrays and objects (reliability R5)."""

CHECKS: dict[Format, Callable[[Object], None]] = {
    "minecraft-item-model": check_item_model,
    "blockbench": check_blockbench,
}
"""{format: what passes a model of it}."""


def check_upload(format: Format, data_base64: str) -> bytes:
    """The JSON of an uploaded model, checked and encoded anew.

    Args:
        format: as declared.
        data_base64: as sent.

    Raises:
        TooLarge: more than 512 KiB, decoded.
        Invalid: not base64, not JSON, or nothing that a renderer could show.
    """
    # Before it is decoded: what is too large shall not cost three quarters of its size once more.
    if len(data_base64) // 4 * 3 - 2 > MAX_BYTES:
        raise _too_large()
    try:
        data = base64.b64decode(data_base64.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _malformed("not base64 (RFC 4648 §4, with padding)") from None
    if len(data) > MAX_BYTES:
        raise _too_large()
    if not data:
        raise Invalid(FieldError(DATA, "REQUIRED", "the model is empty"))
    try:
        model: Json = values_in(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        raise _malformed("the model is not JSON") from None
    except RecursionError:
        raise _malformed(f"the model nests deeper than {MAX_DEPTH} levels") from None
    if not isinstance(model, dict):
        raise Invalid(FieldError(DATA, "WRONG_TYPE", "the model is not an object"))
    if not _is_flat(model):
        raise _malformed(f"the model nests deeper than {MAX_DEPTH} levels")
    CHECKS[format](model)
    return msgspec.json.encode(model)


def _is_flat(model: Object) -> bool:
    """Whether it nests no deeper than is allowed; one level after the other, so that no depth is too deep for us."""
    level: list[Json] = [model]
    for _ in range(MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
        if not level:
            return True
    return False


def _malformed(sentence: str) -> Invalid:
    return Invalid(FieldError(DATA, "MALFORMED", sentence))


def _too_large() -> TooLarge:
    return TooLarge(f"a model has at most {MAX_BYTES} bytes", maxBytes=MAX_BYTES)
