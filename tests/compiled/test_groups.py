"""What compiled modules must not do, found before a build and not by it: no source says so, and each costs minutes.

- Compiled classes have no `__dict__` and no interpreted subclass, unless they say that they may.
- A compiled class statement drops its keywords: a struct is not frozen, has another tag, and names of its own.
- A compiled `raise … from` does not set `__cause__`, so nothing may be decided by it.
"""

import ast
from collections.abc import Iterator

from scripts.compiling.groups import GROUPS
from tests.contract.sources import Source, sources

COMPILED = {name for group in GROUPS.values() for name in group}

INTERPRETED_BASES = {
    "Exception",
    "Protocol",
    "NamedTuple",
    "Enum",
    "IntEnum",
    "StrEnum",
    "Struct",
    "TypedDict",
}
"""What derives from these is an ordinary class, compiled or not."""


def _module(source: Source) -> str:
    return source.path.removesuffix(".py").replace("/", ".")


def _ours() -> tuple[Source, ...]:
    return sources("actors", "persistence", "routes")


def _classes(source: Source) -> Iterator[ast.ClassDef]:
    return (node for node in source.nodes if isinstance(node, ast.ClassDef))


def _bases(node: ast.ClassDef) -> set[str]:
    """The last names of what it derives from."""
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def _may_be_derived_from(node: ast.ClassDef) -> bool:
    said = {
        keyword.arg for one in node.decorator_list if isinstance(one, ast.Call) for keyword in one.keywords
    }
    return "allow_interpreted_subclasses" in said or "native_class" in said


def _native(source: Source) -> set[str]:
    """Full names of the compiled classes of a module."""
    plain = (
        node
        for node in _classes(source)
        if not (_bases(node) & INTERPRETED_BASES or _may_be_derived_from(node))
    )
    return {f"{_module(source)}.{node.name}" for node in plain}


def _imported(source: Source) -> dict[str, str]:
    """{name in a module: the full name of what it was imported as}"""
    return {
        one.asname or one.name: f"{node.module}.{one.name}"
        for node in source.nodes
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }


def test_no_interpreted_class_derives_from_a_compiled_one() -> None:
    native = {name for source in _ours() if _module(source) in COMPILED for name in _native(source)}
    assert len(native) > 40
    wrong = [
        f"{source.at(node)}: {node.name}"
        for source in _ours()
        if _module(source) not in COMPILED
        for node in _classes(source)
        if {_imported(source).get(base) for base in _bases(node)} & native
    ]
    assert wrong == []


def test_no_compiled_module_has_structs() -> None:
    wrong = [
        f"{source.at(node)}: {node.name}"
        for source in _ours()
        if _module(source) in COMPILED
        for node in _classes(source)
        if node.keywords or _bases(node) & {"Struct", "Event", "Record"}
    ]
    assert wrong == []


def test_no_compiled_module_uses_what_compiled_code_lacks() -> None:
    wrong = [
        f"{source.at(node)}: {node.attr}"
        for source in _ours()
        if _module(source) in COMPILED
        for node in source.nodes
        if isinstance(node, ast.Attribute)
        and (
            (node.attr == "__cause__" and isinstance(node.ctx, ast.Load))
            or node.attr == "__dict__"
            or (node.attr == "__new__" and ast.unparse(node.value) == "object")
        )
    ]
    assert wrong == []
