"""How the Python that runs here was built; an optimised one needs 0.7 to 0.8 of the CPU time for everything."""

import sysconfig
from pathlib import Path
from typing import NamedTuple

_RECORDS = ("CFLAGS_NODIST", "LDFLAGS_NODIST", "PY_CORE_CFLAGS", "PY_CORE_LDFLAGS")


class Build(NamedTuple):
    """What an interpreter says of how it was built.

    Args:
        arguments: of `configure`.
        flags: of the compiler and the linker.
        wants_library: whether it was configured to lie in a shared library.
        uses_library: whether it does.
    """

    arguments: str
    flags: str
    wants_library: bool
    uses_library: bool


def present_build() -> Build:
    """Return how the running interpreter was built."""
    known = sysconfig.get_config_vars()
    return Build(
        arguments=str(known.get("CONFIG_ARGS", "")),
        flags=" ".join(str(known.get(name, "")) for name in _RECORDS),
        wants_library=bool(known.get("Py_ENABLE_SHARED")),
        uses_library="/libpython3" in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"),
    )


def is_optimised(build: Build) -> bool:
    """Whether it was built with a profile or with optimisation across files.

    `configure` has an argument for each, and the flags of the compiler show what was set otherwise. Debian and Ubuntu
    build so without either on record; what nobody else does is that they configure a shared library and link the
    program without it.

    Args:
        build: as it says itself.
    """
    asked = "--enable-optimizations" in build.arguments or "--with-lto" in build.arguments
    flagged = "-fprofile-use" in build.flags or "-flto" in build.flags
    return asked or flagged or (build.wants_library and not build.uses_library)
