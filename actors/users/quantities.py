"""Quantities that a permission can carry: a number, or a number with a unit (service-api §2, contract §8 Units).

A unit is returned under its listed name, whichever alias was given: `gb` means and becomes `gib`, the number stays.
"""

import math
from dataclasses import dataclass

QUANTITY_MAX = 2**53 - 1
"""The largest number that every JSON reader keeps exact (RFC 8259 §6)."""

# {listed unit: how many of its base unit: bytes, seconds, or things}
UNITS: dict[str, int] = {
    "bytes": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "seconds": 1,
    "minutes": 60,
    "hours": 3_600,
    "days": 86_400,
    "years": 365 * 86_400,
    "count": 1,
    "messages": 1,
}

# {listed unit: other ways to write it}, lower case
_WRITTEN: dict[str, str] = {
    "bytes": "byte b",
    "kib": "kb k kibibyte kibibytes kilobyte kilobytes",
    "mib": "mb mebibyte mebibytes megabyte megabytes",
    "gib": "gb g gibibyte gibibytes gigabyte gigabytes",
    "tib": "tb t tebibyte tebibytes terabyte terabytes",
    "seconds": "second sec secs s",
    "minutes": "minute min mins",
    "hours": "hour hr hrs h",
    "days": "day d",
    "years": "year yr yrs y",
    "count": "counts",
    "messages": "message msg msgs",
}

ALIASES: dict[str, str] = {
    **{unit: unit for unit in UNITS},
    **{alias: unit for unit, aliases in _WRITTEN.items() for alias in aliases.split()},
}
"""{any accepted spelling of a unit, lower case: the listed unit}. `m` is left out, as it could mean
minutes or mebibytes.
"""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with an optional listed unit.

    Args:
        value: 0 to `QUANTITY_MAX`, finite.
        unit: one of `UNITS`, or None for a bare number.
    """

    value: float
    unit: str | None = None

    @property
    def number(self) -> int | float:
        """The value as people write it: an integer where it is one."""
        return int(self.value) if self.value.is_integer() else self.value

    @property
    def in_base_unit(self) -> int:
        """Bytes, seconds or things, rounded down."""
        return math.floor(self.value * (UNITS[self.unit] if self.unit else 1))


def listed_unit(text: str) -> str | None:
    """The listed unit that `text` means, in any case, or None."""
    return ALIASES.get(text.strip().lower())
