"""The project's source files, read and parsed once, for the tests that read code instead of running it.

Nothing here imports the modules that it reads, so a module that cannot be imported is still judged.
"""

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("routes", "actors", "persistence", "compiled")
OF_THE_BUILD = "PARTYLINE_COMPILE"
"""A name like those of settings, of a variable that only the build of a wheel or an image reads."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file, which is parsed when a test first asks for its tree: some ask for the text alone, and half of
    what there is are tests.

    Args:
        path: from the root, with slashes.
        text: all of it.
    """

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        tree = ast.parse(self.text)
        # Millions of nodes that live until the end: each full collection of the tests that follow would walk them.
        gc.freeze()
        return tree

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Those of the tree, in the order of `ast.walk`, which would take twice as long: walking is most of what such
        a test costs, and there are thirty."""
        nodes: list[ast.AST] = [self.tree]
        for node in nodes:  # which grows meanwhile
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    nodes.append(value)
                elif isinstance(value, list):
                    nodes += [one for one in value if isinstance(one, ast.AST)]
        return tuple(nodes)

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + (not self.text.endswith("\n"))

    def at(self, node: ast.AST) -> str:
        """Where a node stands, as an editor opens it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file below the folders, in order of path."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple(source for path in paths if (source := _source(path)).text)


@cache
def _source(path: Path) -> Source:
    return Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def imports(source: Source) -> Iterator[tuple[str, ast.stmt]]:
    """Every absolute module name that the file imports, wherever in the file, with the statement."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node


def imported_modules(source: Source) -> set[str]:
    """What of ours the file imports: modules, also such as are named behind the package they lie in."""
    found = set()
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in LAYERS:
            inside = (f"{node.module}.{name.name}" for name in node.names)
            modules = {one for one in inside if (ROOT / one.replace(".", "/")).with_suffix(".py").exists()}
            found |= modules or {node.module}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.partition(".")[0] in LAYERS}
    return found


def functions(source: Source) -> Iterator[Function]:
    """Every function and method, nested ones too."""
    for node in source.nodes:
        if isinstance(node, Function):
            yield node


def strings(source: Source) -> Iterator[tuple[str, ast.Constant]]:
    """Every string literal that is not a docstring, with its node; the constant parts of f-strings too."""
    docstrings = {
        id(node.body[0].value)
        for node in source.nodes
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, node
