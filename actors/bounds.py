"""Outer bounds of fields that clients send, checked while a body is parsed, before any code walks a text or a list.

They are for fields whose own rule refuses what is too long with an error of its own, or that merely name something,
and lie far above what those rules allow; `ruled` tells clients what the rule allows. All other fields have their bound
where they are declared.
"""

import re
from typing import Annotated

import msgspec

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact."""

IdText = Annotated[str, msgspec.Meta(max_length=200)]
"""An id as the client sent it, not yet parsed; the longest id of the service has 64 characters."""

ShortText = Annotated[str, msgspec.Meta(max_length=4_096)]
"""A name, a title, a line."""

LongText = Annotated[str, msgspec.Meta(max_length=65_536)]
"""A message, a note, a description: text of several lines."""

Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number that PostgreSQL can store; the field's rule clamps it, or refuses it with an error of its own."""

RULE = "x-rule"
"""The key under which a generated schema has the keywords of `ruled`; OpenAPI and AsyncAPI move them to their
places."""


def ruled(**says: object) -> msgspec.Meta:
    """Describe for OpenAPI and AsyncAPI what a field's own rule allows: `ruled(maxLength=100)`.

    Decoding ignores it, so that the rule refuses other values with its own error. A rule that trims a text, or takes
    CR LF for one character, counts what is left after that: this is not described.

    Args:
        says: keywords of JSON Schema, in place of those of the outer bound.
    """
    return msgspec.Meta(extra_json_schema={RULE: says})


def whole(form: re.Pattern[str]) -> str:
    """The `pattern` of texts that have a form as a whole."""
    return f"^(?:{form.pattern})$"


JsonObject = Annotated[msgspec.Raw, ruled(type="object")]
"""JSON text that is an object: whoever takes it sees to that."""

JsonObjects = Annotated[
    msgspec.Raw, ruled(type="array", items={"type": "object", "additionalProperties": True})
]
"""JSON text that is a list of objects."""

UuidText = Annotated[IdText, ruled(format="uuid", maxLength=36)]
"""A uuid as the client sent it, in either case; refused by whoever reads it."""

ObjectIdText = Annotated[IdText, ruled(pattern="^[0-9A-Fa-f]{24}$")]
"""An objectId as the client sent it, in either case; refused by whoever reads it."""

MAX_NAMED = 2_048
"""How many things one request may name: twice what the largest group has."""
