"""`scripts/console-pictures`: the pictures of the README and of docs/console.md, made anew on a server of their own.

A person looks at them before they are committed.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

import trio

from scripts.benchmarks.servers import Server, serving
from scripts.console_budget.place import placed
from scripts.console_pictures.furniture import furnish
from scripts.console_pictures.views import VIEWS, take

FOLDER = Path(__file__).parents[2] / "docs/pictures"


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(prog="scripts/console-pictures", description=__doc__)
    it.add_argument("--folder", type=Path, default=FOLDER, help="where they go (default docs/pictures)")
    names = [view.name for view in VIEWS]
    it.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of: {', '.join(names)}")
    return it


async def run(folder: Path, names: list[str]) -> None:
    """Take the pictures, each in a browser that has nothing in its cache.

    Args:
        folder: an existing folder for the pictures.
        names: the names of the views to take.
    """
    async with serving("lean") as server:
        await trio.to_thread.run_sync(partial(_taken, server, folder, names))


def _taken(server: Server, folder: Path, names: list[str]) -> None:
    with placed(server) as place:
        furniture = furnish(place)
        for view in VIEWS:
            if view.name in names:
                take(place, furniture, view, folder / f"{view.name}.png")
                print(folder / f"{view.name}.png")


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    trio.run(run, options.folder, options.only or [view.name for view in VIEWS])
    return 0


if __name__ == "__main__":
    sys.exit(main())
