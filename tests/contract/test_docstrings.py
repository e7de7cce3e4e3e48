"""Every module says why it exists, and every public name what it is, in at least one whole sentence."""

import ast
from collections.abc import Iterator

from tests.contract.sources import LAYERS, Function, Source, sources

SENTENCE_ENDS = (".", "?", "!", ":", ")", "`", "…")


def _public(source: Source) -> Iterator[tuple[str, ast.AST, str | None]]:
    """Name, node and docstring of the module, its public classes and functions, and their public methods."""
    yield source.path, source.tree, ast.get_docstring(source.tree)
    for node in source.tree.body:
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_") or _repeats(node):
            continue
        yield node.name, node, ast.get_docstring(node)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, Function) and not member.name.startswith("_") and not _repeats(member):
                    yield f"{node.name}.{member.name}", member, ast.get_docstring(member)


def _repeats(node: ast.ClassDef | Function) -> bool:
    """A setter or an overload, whose first part is documented."""
    return any(
        (isinstance(mark, ast.Attribute) and mark.attr in ("setter", "overload"))
        or (isinstance(mark, ast.Name) and mark.id in ("overload", "override"))
        for mark in node.decorator_list
    )


def test_public_names_are_documented():
    """Nothing public is without a docstring."""
    bare = [
        f"{source.at(node)} {name}"
        for source in sources(*LAYERS, "scripts")
        for name, node, text in _public(source)
        if not text
    ]
    assert not bare, "\n".join(bare)


def test_docstrings_begin_with_a_sentence():
    """The first paragraph is a sentence that ends."""
    odd = [
        f"{source.at(node)} {name}: {first!r}"
        for source in sources(*LAYERS)
        for name, node, text in _public(source)
        if text and not (first := text.split("\n\n")[0].strip()).endswith(SENTENCE_ENDS)
    ]
    assert not odd, "\n".join(odd)


def test_nothing_is_left_for_later():
    """No marks of unfinished work, and no names of people or dates to rot in comments."""
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
    found = [
        f"{source.path}:{number}"
        for source in sources(*LAYERS, "scripts", "tests")
        for number, line in enumerate(source.text.splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert not found, "\n".join(found)
