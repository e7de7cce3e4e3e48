"""`scripts/interop`: programs of other projects, from their registries, read what a running service of ours answers.

Each starts a service of its own on a free port, with its own database. What needs Node is skipped, with one line, where
Node or npm is not installed.
"""

import argparse
import sys
from collections.abc import Callable

import trio

from scripts.others.electron_updater import electron_updater
from scripts.others.livekit import livekit
from scripts.others.minecraft_protocol import minecraft_protocol
from scripts.others.node import Differs, NoNode
from scripts.others.oidc_provider import oidc_provider
from scripts.others.rss import rss

CHECKS: dict[str, Callable[[], None]] = {
    "electron-updater": lambda: trio.run(electron_updater),
    "minecraft-protocol": lambda: trio.run(minecraft_protocol),
    "livekit-server-sdk": lambda: trio.run(livekit),
    "oidc-provider": lambda: trio.run(oidc_provider),
    "rss-parser": lambda: trio.run(rss),
}
"""The checks, {name of the program: function}; a check that fails raises Differs."""


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/interop",
        description="Programs of others against a running service of ours.",
        epilog="Exit status 0: all that could run found what they had to find.",
    )
    it.add_argument("--only", choices=CHECKS, help="this program alone")
    return it


def main() -> int:
    """Run what was asked for; returns the exit status."""
    failed = 0
    only = parser().parse_args().only
    for program in CHECKS if only is None else (only,):
        try:
            CHECKS[program]()
        except NoNode as missing:
            print(f"{program}: skipped, {missing}")
        except Differs as error:
            failed += 1
            print(f"{program}: FAILED: {error}")
        else:
            print(f"{program}: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
