"""What is wrong with the fields of a body, within bounds: a refusal repeats what its client has sent."""

from collections.abc import Iterable
from itertools import islice

import msgspec

MAX_ERRORS = 100
"""Most field errors that one refusal tells of."""

MAX_POINTER_BYTES = 8 * 1024
"""Most bytes of all pointers of one refusal, as written in JSON: they repeat names that the client has chosen."""

INSIDE = " (further inside)"
"""The end of the sentence of an error whose pointer was cut."""


class FieldError(msgspec.Struct, frozen=True):
    """One broken field: where (RFC 6901 pointer into the body), which rule, and a sentence.

    Args:
        pointer: where in the body it is (JSON Pointer, RFC 6901).
        code: what is wrong, for programs.
        message: what is wrong, for people.
    """

    pointer: str
    code: str
    message: str

    def within(self, room: int) -> "FieldError":
        """This error, with a pointer of at most `room` bytes as it is written in JSON.

        A longer pointer is cut by whole steps, so that it leads to the nearest value around the broken one whose own
        pointer fits, at worst to the whole body; the sentence then ends with "(further inside)".
        """
        if len(self.pointer) <= room and _written_bytes(self.pointer) <= room:
            return self
        cut = ""
        for step in self.pointer[: room + 1].split("/")[1:]:
            room -= 1 + _written_bytes(step)
            if room < 0:
                break
            cut += f"/{step}"
        return FieldError(cut, self.code, self.message.removesuffix(INSIDE) + INSIDE)


def bounded(errors: Iterable[FieldError]) -> tuple[FieldError, ...]:
    """The first 100 errors, with pointers of 8 KiB together, so that no refusal is much larger than what is refused.

    Args:
        errors: the errors, of which no more are taken from the iterable than are told. Pointers for which no room is
            left are cut (`FieldError.within`).
    """
    kept: list[FieldError] = []
    room = MAX_POINTER_BYTES
    for error in islice(errors, MAX_ERRORS):
        fitting = error.within(room)
        room -= _written_bytes(fitting.pointer)
        kept.append(fitting)
    return tuple(kept)


def _written_bytes(pointer: str) -> int:
    return len(msgspec.json.encode(pointer)) - 2
