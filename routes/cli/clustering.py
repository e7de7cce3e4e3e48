"""The commands about several nodes: listing them, and taking one out of service."""

import argparse

from routes.cli.keeping import Add
from routes.cli.output import say
from routes.cli.running import run_trio
from routes.config.config import Config

# Each command imports what it needs when it is run.
# ruff: noqa: PLC0415


def add_nodes(add: Add) -> None:
    """Add these commands to the command line.

    Args:
        add: adds one command to the parser.
    """
    nodes = add("nodes", "print the nodes of the service: what each owns, and whom it hears", _list)
    kinds = nodes.add_subparsers(metavar="COMMAND")
    for name, says, command in (
        ("drain", "have a node give all that it owns to the others, and wait until it has", _drain),
        ("resume", "have a node that was drained take its share again", _resume),
    ):
        kind = kinds.add_parser(name, help=says, description=says, allow_abbrev=False)
        kind.set_defaults(command=command)
        kind.add_argument("node", metavar="NODE", help="its name, as `partyline nodes` prints it")


def _list(_arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.nodes import list_nodes

    for line in run_trio(list_nodes, config):
        say(line)
    return 0


def _drain(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.draining import drain

    run_trio(drain, config, arguments.node, say)
    return 0


def _resume(arguments: argparse.Namespace, config: Config) -> int:
    from routes.cli.draining import resume

    say(run_trio(resume, config, arguments.node))
    return 0
