"""`scripts/vendor`: takes a library for browsers from npm into the repository, byte for byte, with its licence.

scripts/vendor preact@11.2.1                              the files that are taken of it already, of this version
scripts/vendor some-lib@1.0.0 --file dist/lib.mjs=lib.js  another library
scripts/vendor --check                                    asks the registry whether all is as it has it
"""

import argparse
import sys
from pathlib import Path

from scripts.vendoring.packages import BadPackage, fetched
from scripts.vendoring.shelf import differences, entries, put

REPOSITORY = Path(__file__).parents[2]
CONSOLE = REPOSITORY / "routes/console/static/vendor"
TESTS = REPOSITORY / "tests/console/vendor"


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/vendor", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    it.add_argument(
        "package", nargs="?", metavar="NAME@VERSION", help="as npm names it, with an exact version"
    )
    it.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="SOURCE=NAME",
        help="a file of the package, and its name here",
    )
    it.add_argument(
        "--into", type=Path, default=CONSOLE, metavar="FOLDER", help="where (default: the console's)"
    )
    it.add_argument("--check", action="store_true", help="compare everything with the registry")
    return it


def take(spec: str, folder: Path, files: list[str]) -> None:
    """Take a package.

    Raises:
        BadPackage: the package cannot be had, or it is not said which of its files are wanted.
    """
    package, _, _ = spec.rpartition("@")
    if not package:
        raise BadPackage(f"{spec} has no version")
    known = [(one.source, one.file) for one in entries(folder) if one.package == package]
    wanted = [(source, name) for source, _, name in (one.partition("=") for one in files)] or known
    if not wanted:
        raise BadPackage(f"nothing is taken of {package} yet: say which files with --file SOURCE=NAME")
    put(folder, fetched(spec), wanted)


def main() -> int:
    """Run the command line; the exit status is 1 where something is not as it should be."""
    options = parser().parse_args()
    if not options.check and options.package is None:
        parser().error("a package, or --check")
    try:
        if options.package is not None:
            take(options.package, options.into, options.file)
    except BadPackage as bad:
        print(f"scripts/vendor: {bad}", file=sys.stderr)
        return 1
    if not options.check:
        return 0
    found = [line for folder in (CONSOLE, TESTS) for line in differences(folder, fetched)]
    print("\n".join(found) or "Everything is as the registry has it.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
