"""Fixtures that every test may ask for."""

import gc
import os
import signal
import warnings
from contextlib import suppress
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from routes.process import begin_collecting
from tests.support.clusters import clusters
from tests.support.database import database, database_url, postgres_server
from tests.support.hurry import hurry
from tests.support.in_turn import gather, spread
from tests.support.memory import work_in_memory
from tests.support.plain_log import log_plainly
from tests.support.server import EDGES

__all__ = ["clusters", "database", "database_url", "postgres_server"]

# How long Hypothesis takes to make or to run an example depends on the machine, and is no fault.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

T = TypeVar("T")

ONE_NODE_FOLDERS = {
    "tests/console/browser": "a page is of one address, and each node of a world has its own",
    "tests/nodes": "they make nodes of their own, and wait for them as a service does",
    "tests/simulation/cluster": "as those of tests/nodes",
}
"""Folders of tests that are skipped with `--nodes`, beside tests with the mark `one_node`: {folder: why}."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hurry",
        type=int,
        default=1,
        metavar="RATE",
        help="let time pass so many times as quickly, as a machine sees it that is slower by as much",
    )
    parser.addoption(
        "--nodes",
        type=int,
        default=1,
        metavar="NUMBER",
        help="give each world so many nodes, and send each request and open each socket on the next one",
    )


def pytest_configure(config: pytest.Config) -> None:
    work_in_memory()
    log_plainly()
    gc.disable()  # what is loaded while tests are collected stays; see `pytest_collection_finish`
    # A script has its background processes ignore SIGINT, and programs that tests start would inherit that from us.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if (rate := config.getoption("--hurry")) != 1:
        hurry(rate)
    if (nodes := config.getoption("--nodes")) != 1:
        spread(nodes)


def pytest_unconfigure() -> None:
    gather()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Have each process load the modules of tests from another place on. Where they have no bytecode yet, as in a fresh
    clone, writing it takes longer than all else before the first test: in step, every process would do all of that."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return
    root = session.config.rootpath
    folders = [path for path in map(Path, session.config.args) if path.is_dir()]
    modules = sorted({path.resolve() for folder in folders for path in folder.rglob("test_*.py")})
    for path in _rotated(modules, int(worker.removeprefix("gw")), _processes()):
        # What cannot be loaded, or warns, is reported when it is collected, as it is loaded once more then.
        with suppress(Exception, pytest.skip.Exception), warnings.catch_warnings():
            warnings.simplefilter("error")
            import_module(".".join(path.relative_to(root).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Let the collector run as it does in the program, and without the objects that were loaded for the tests, which
    stay to the end."""
    begin_collecting()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with the mark `both_edges` on both servers, and all others on ours alone: what lies behind the dispatch
    does not depend on the server."""
    if "served_by" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_edges") is not None
        metafunc.parametrize("served_by", EDGES if both else EDGES[:1])


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.config.getoption("--nodes") == 1:
        return
    mark = item.get_closest_marker("one_node")
    path = item.path.relative_to(item.config.rootpath)
    reasons = [mark.kwargs["because"]] if mark is not None else []
    reasons += [because for folder, because in ONE_NODE_FOLDERS.items() if path.is_relative_to(folder)]
    if reasons:
        pytest.skip(f"on one node only: {reasons[0]}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count drills among the slow tests, and have each process begin with its share of those, so that none is left
    alone with them at the end. Each begins at another place, since those of one folder wait for the same things: in
    step, all processes would wait for browsers first, and then for nodes, and the machine would be idle meanwhile."""
    for item in items:
        if item.get_closest_marker("drill") is not None:
            item.add_marker("slow")
    processes = _processes()
    slow = [item for item in items if item.get_closest_marker("slow") is not None]
    quick = [item for item in items if item.get_closest_marker("slow") is None]
    share = ceil(len(quick) / processes)
    items[:] = [
        item
        for number in range(processes)
        for item in (
            *_rotated(slow[number::processes], number, processes),
            *quick[number * share : (number + 1) * share],
        )
    ]


def _processes() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def _rotated(share: list[T], number: int, processes: int) -> list[T]:
    first = len(share) * number // processes
    return share[first:] + share[:first]
