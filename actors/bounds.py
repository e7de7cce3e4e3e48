"""Outer bounds of what clients send: checked while a body is read, before anything walks a text or a list.

They are for fields whose rule says in words of its own what is too long, or that only name something, and lie far above
what those rules allow. A field with a bound of its own has it where it is declared.
"""

from typing import Annotated

import msgspec

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact."""

IdText = Annotated[str, msgspec.Meta(max_length=200)]
"""What is meant to be an id, as it came; the longest of ours has 64 characters."""

ShortText = Annotated[str, msgspec.Meta(max_length=4_096)]
"""A name, a title, a line."""

LongText = Annotated[str, msgspec.Meta(max_length=65_536)]
"""What people write to each other."""

Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number whose rule brings it into its range, or says in words of its own that it is out of it."""

MAX_NAMED = 2_048
"""Things that one request names, twice what the largest group has."""
