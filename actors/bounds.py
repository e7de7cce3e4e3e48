"""Outer bounds of fields that clients send, checked while a body is parsed, before any code walks a text or a list.

They are for fields whose own rule refuses what is too long with an error of its own, or that merely name something,
and lie far above what those rules allow. All other fields have their bound where they are declared.
"""

from typing import Annotated

import msgspec

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact."""

IdText = Annotated[str, msgspec.Meta(max_length=200)]
"""An id as the client sent it, not yet parsed; the longest of ours has 64 characters."""

ShortText = Annotated[str, msgspec.Meta(max_length=4_096)]
"""A name, a title, a line."""

LongText = Annotated[str, msgspec.Meta(max_length=65_536)]
"""A message, a note, a description: text of several lines."""

Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number that PostgreSQL can store; the field's rule clamps it, or refuses it with an error of its own."""

MAX_NAMED = 2_048
"""How many things one request may name: twice what the largest group has."""
