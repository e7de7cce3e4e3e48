"""Turn an upload from base64 into the JSON that is stored: bounded first, then decoded, checked, and encoded anew.

What is served is what was checked, never the uploaded bytes: duplicate members, white space and byte order marks are
gone. All of it takes some milliseconds, and runs in a worker thread.
"""

import base64
import binascii
from collections.abc import Callable

import msgspec

from actors.errors import Invalid, TooLarge
from actors.field_errors import FieldError
from actors.stored_json import values_in
from actors.totems.blockbench import check_blockbench
from actors.totems.flaws import DATA, Json, Object
from actors.totems.item_model import check_item_model
from persistence.totems.totems import Format

MAX_BYTES = 512 * 1024
"""Most bytes of a model as JSON (contract §8), both as it is uploaded and as it is stored."""

MAX_DEPTH = 32
"""The most levels of arrays and objects (reliability R5)."""

CHECKS: dict[Format, Callable[[Object], None]] = {
    "minecraft-item-model": check_item_model,
    "blockbench": check_blockbench,
}
"""{format: the check of its models}."""


def check_upload(format: Format, data_base64: str) -> bytes:
    """Decode and check an uploaded model, and encode it anew.

    Args:
        format: the declared format.
        data_base64: the model in base64, as the client sent it.

    Raises:
        TooLarge: the model has more than 512 KiB, decoded or encoded anew.
        Invalid: it is not base64, not JSON, or not a model that can be rendered.
    """
    # Before it is decoded, so that an upload that is too large does not cost three quarters of its size again.
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
    if not _is_shallow(model):
        raise _malformed(f"the model nests deeper than {MAX_DEPTH} levels")
    CHECKS[format](model)
    stored = msgspec.json.encode(model)
    # Numbers may become longer: `9e15` is written out with 18 characters.
    if len(stored) > MAX_BYTES:
        raise _too_large()
    return stored


def _is_shallow(model: Object) -> bool:
    """Whether a model nests no deeper than `MAX_DEPTH`; checked level by level, without recursion."""
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
