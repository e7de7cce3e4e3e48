"""`scripts/compile`: compiles modules for this checkout, says whether the compiled ones are current, or removes
them."""

import argparse
import shutil
import sys
import time

from compiled.finding import OBJECTS, ROOT, hindrance, read_manifest
from scripts.compiling.building import build
from scripts.compiling.groups import GROUPS


def main() -> int:
    """Run what the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="scripts/compile",
        description="Compile the modules that all traffic passes, by mypyc and the C compiler, for this checkout and "
        "this Python; takes minutes. After an edit of any of them all run from their source until the next time.",
    )
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="which; default: all")
    parser.add_argument("--if-stale", action="store_true", help="do nothing if what is there is current")
    parser.add_argument("--remove", action="store_true", help="remove what was compiled")
    asked = parser.parse_args()
    wanted = {name: GROUPS[name] for name in asked.groups or GROUPS}
    if asked.remove:
        shutil.rmtree(ROOT / OBJECTS, ignore_errors=True)
        return 0
    if asked.if_stale and _is_current(wanted):
        return 0
    began = time.monotonic()
    build(ROOT, wanted, ROOT / OBJECTS)
    modules = sum(map(len, wanted.values()))
    print(
        f"{modules} modules compiled in {time.monotonic() - began:.0f} s; `partyline doctor` says whether they run"
    )
    return 0


def _is_current(wanted: dict[str, tuple[str, ...]]) -> bool:
    manifest = read_manifest(ROOT / OBJECTS)
    return (
        manifest is not None
        and all(module in manifest.objects for modules in wanted.values() for module in modules)
        and hindrance(manifest) is None
    )


if __name__ == "__main__":
    sys.exit(main())
