"""How the running Python was built; an optimised build needs only 0.7 to 0.8 of the CPU time for everything."""

import sysconfig
from pathlib import Path
from typing import NamedTuple

_RECORDS = ("CFLAGS_NODIST", "LDFLAGS_NODIST", "PY_CORE_CFLAGS", "PY_CORE_LDFLAGS")


class Build(NamedTuple):
    """What an interpreter says of how it was built.

    Args:
        arguments: the arguments of `configure`.
        flags: the flags of the compiler and the linker.
        wants_library: whether it was configured to build a shared library.
        uses_library: whether the program is linked to that library.
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
    """Whether an interpreter was built with a profile or with optimisation across files.

    `configure` has an argument for each, and the compiler's flags show what was set by other means. Debian and Ubuntu
    build so without either on record; they are recognised by configuring a shared library and linking the program
    without it, which no other build does.

    Args:
        build: the interpreter's build, from `present_build`.
    """
    asked = "--enable-optimizations" in build.arguments or "--with-lto" in build.arguments
    flagged = "-fprofile-use" in build.flags or "-flto" in build.flags
    return asked or flagged or (build.wants_library and not build.uses_library)
