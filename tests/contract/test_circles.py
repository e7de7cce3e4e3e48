"""No module needs itself by way of others, not even for types: each can be read after what it imports."""

from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGES = ("actors", "routes", "persistence", "scripts")


def test_no_imports_go_in_a_circle():
    graph = grimp.build_graph(*PACKAGES)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        raise AssertionError(" ← ".join(error.args[1])) from None
