"""What everything stands on knows nothing of what stands on it: the kernel and the edge, each by an allow-list."""

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.contract.sources import LAYERS, Source, sources
from tests.contract.sources import imported_modules as imported

# What may be imported, as modules or as packages with all that is in them.
ALLOWED = {
    "actors/kernel/": {
        "actors.kernel",
        "actors.errors",
        "actors.field_errors",
        "persistence.connection",
        "persistence.errors",
        "persistence.journal.journal",
        "persistence.journal.turn",
        "persistence.nodes.members",
        "persistence.nodes.nodes",
        "persistence.nodes.shards",
    },
    "routes/edge/": {
        "routes.edge",
        "actors.bounds",
        "actors.kernel",
        "actors.errors",
        "actors.field_errors",
        "actors.ids",
        "actors.time",
        "actors.vault",
        "persistence.bridge.database",
        "persistence.connection",
        "persistence.errors",
        "persistence.journal.receipts",
        "persistence.journal.turn",
    },
}


@pytest.mark.parametrize("folder", ALLOWED)
def test_foundations_know_nothing_of_what_stands_on_them(folder: str):
    """Imports for type checkers alone count as well: who reads a file has to know what it names."""
    strays = [
        f"{source.path} imports {name}"
        for source in sources(*LAYERS)
        if source.path.startswith(folder)
        for name in sorted(imported(source))
        if not any(name == one or name.startswith(f"{one}.") for one in ALLOWED[folder])
    ]
    assert not strays, "\n".join(strays)


def _modules() -> dict[str, Source]:
    return {
        one.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): one
        for one in sources(*LAYERS)
    }


def test_no_files_import_each_other_in_a_circle():
    """But for routes of domains, which meet in the service. Whoever is in no circle can be read alone."""
    modules = _modules()
    graph = {
        name: imported(source) & modules.keys() - {name}
        for name, source in modules.items()
        if not source.path.startswith("routes/") or source.path.startswith("routes/edge/")
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(circle.args[1]))
