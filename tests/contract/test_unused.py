"""What a module defines is used by the program, not by tests alone."""

import ast
import re
from collections.abc import Iterator

from tests.contract.sources import LAYERS, Source, sources, strings

USERS = (*LAYERS, "scripts")
"""Whatever belongs to the program, or drives it."""

PASSED_ON = {"persistence.journal.journal", "persistence.nodes.nodes"}
"""Modules that stand for a Protocol (`Journal`, `Nodes`): what they define is called by way of that."""

FOR_A_TEST = {"actors.chat.drafts.MAX_RECORD_BYTES"}
"""What only a test compares with what is so."""


def _module(source: Source) -> str:
    return source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _defined(source: Source) -> Iterator[str]:
    """The names that a module defines, but for what a decorator may hand on and what Python itself asks for."""
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = [] if node.decorator_list and not isinstance(node, ast.ClassDef) else [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("__"))


def _used(source: Source, modules: set[str]) -> Iterator[str]:
    """Everything of the modules that a file uses, as `module.name`."""
    known: dict[str, str] = {}  # {name in this file: the module that it stands for}
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
            known |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if known.get(node.value.id) in modules:
                yield f"{known[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield f"{_module(source)}.{node.id}"
    # Annotations that are written as text, which no sentence about a name is.
    said = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    for text, node in strings(source):
        if id(node) not in said:
            yield from (f"{_module(source)}.{word}" for word in re.findall(r"\w+", text))


def test_nothing_is_there_for_tests_alone() -> None:
    program = sources(*USERS)
    modules = {_module(source) for source in program}
    used = {name for source in program for name in _used(source, modules)}
    unused = [
        f"{_module(source)}.{name}"
        for source in sources(*LAYERS)
        if _module(source) not in PASSED_ON
        for name in _defined(source)
        if f"{_module(source)}.{name}" not in used
    ]
    assert set(unused) == FOR_A_TEST
