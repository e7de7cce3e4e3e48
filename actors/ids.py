"""Ids as all layers use them: 24 hex digits (`ObjectId`) or a uuid, always in lower case.

Ids are public: nothing relies on their secrecy (contract §2), yet 64 random bits keep two nodes from making the same
one. Where ids come in, from the wire or from rows, they are interned: one user's id is in a dozen places of memory,
and is kept once.
"""

import re
from collections.abc import Callable, Iterator
from sys import intern
from typing import NewType

ObjectId = NewType("ObjectId", str)
"""24 lower-case hexadecimal digits: 4 bytes of seconds, 8 random bytes."""

Uuid = NewType("Uuid", str)
"""A lower-case uuid with dashes."""

UserId = NewType("UserId", Uuid)
"""The uuid of a user, the `sub` of their token."""

RandomBytes = Callable[[int], bytes]
"""`n -> n random bytes`: `secrets.token_bytes` in the service, a seeded one in tests."""

OBJECT_ID_FORM = re.compile(r"[0-9a-f]{24}", re.ASCII)
UUID_FORM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)

_SECONDS_MASK = 0xFFFF_FFFF


def new_object_id(now_ms: int, random_bytes: RandomBytes) -> ObjectId:
    """A fresh id (contract §2).

    Args:
        now_ms: epoch milliseconds; its seconds lead the id, modulo 2**32.
        random_bytes: the injected source of randomness.
    """
    return ObjectId(f"{now_ms // 1000 & _SECONDS_MASK:08x}{random_bytes(8).hex()}")


def random_hex(random_bytes: RandomBytes, length: int) -> Iterator[str]:
    """Yield random hexadecimal strings without end. The source is read for 64 of them at once: a system
    call costs 4 µs.

    Args:
        random_bytes: the injected source of randomness.
        length: bytes of each string, which has twice as many digits.
    """
    digits = 2 * length
    while True:
        several = random_bytes(64 * length).hex()
        for at in range(0, len(several), digits):
            yield several[at : at + digits]


class ObjectIds:
    """Fresh object ids for one thread.

    Args:
        random_bytes: the injected source of randomness.
    """

    def __init__(self, random_bytes: RandomBytes) -> None:
        self._random = random_hex(random_bytes, 8)

    def new(self, now_ms: int) -> ObjectId:
        """A fresh id (contract §2), made as `new_object_id` does, from randomness that was read in advance.

        Args:
            now_ms: epoch milliseconds.
        """
        return ObjectId(f"{now_ms // 1000 & _SECONDS_MASK:08x}{next(self._random)}")


def new_uuid(random_bytes: RandomBytes) -> Uuid:
    """A fresh random uuid, version 4 (RFC 9562 §5.4)."""
    raw = bytearray(random_bytes(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    digits = raw.hex()
    return Uuid(f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}")


def new_epoch(random_bytes: RandomBytes) -> str:
    """A fresh name of a history; it only has to differ from those of other histories of the same thing."""
    return random_bytes(5).hex()


def is_object_id(text: str) -> bool:
    """True for exactly 24 lower-case hexadecimal digits."""
    return OBJECT_ID_FORM.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    """True for a lower-case uuid with dashes, of any version."""
    return UUID_FORM.fullmatch(text) is not None


def parse_object_id(text: str) -> ObjectId | None:
    """The id in lower case, or None when it is not 24 hexadecimal digits."""
    lowered = text.lower()
    return ObjectId(intern(lowered)) if is_object_id(lowered) else None


def parse_uuid(text: str) -> Uuid | None:
    """The uuid in lower case, or None when it is not one."""
    lowered = text.lower()
    return Uuid(intern(lowered)) if is_uuid(lowered) else None
