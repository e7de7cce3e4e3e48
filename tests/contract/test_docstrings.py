"""Every module says why it exists, and every public name what it is, in at least one whole sentence."""

import ast
import re
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
        for source in sources(*LAYERS, "partyline", "scripts")
        for name, node, text in _public(source)
        if not text
    ]
    assert not bare, "\n".join(bare)


def test_docstrings_begin_with_a_sentence():
    """The first paragraph is a sentence that ends."""
    odd = [
        f"{source.at(node)} {name}: {first!r}"
        for source in sources(*LAYERS, "partyline")
        for name, node, text in _public(source)
        if text and not (first := text.split("\n\n")[0].strip()).endswith(SENTENCE_ENDS)
    ]
    assert not odd, "\n".join(odd)


def _functions(*folders: str) -> Iterator[tuple[str, Function, str]]:
    """(where and what, node, docstring) of the public functions and methods; what is an endpoint is documented by its
    declaration, from which OpenAPI takes bodies, parameters and refusals."""
    for source in sources(*LAYERS, "partyline"):
        if folders and not source.path.startswith(folders):
            continue
        for name, node, text in _public(source):
            if isinstance(node, Function) and text and not _declared(node):
                yield f"{source.at(node)} {name}", node, text


def _declared(node: Function) -> bool:
    called = (mark.func for mark in node.decorator_list if isinstance(mark, ast.Call))
    return any(
        isinstance(function, ast.Name) and function.id in ("endpoint", "stream") for function in called
    )


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What a function does itself, without the functions inside."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.Lambda):
            yield child
            yield from _own(child)


def _raised(node: Function) -> set[str]:
    """The names of the classes that a function raises by `raise X` or `raise X(…)`."""
    raised = (one.exc for one in _own(node) if isinstance(one, ast.Raise) and one.exc is not None)
    called = (one.func if isinstance(one, ast.Call) else one for one in raised)
    return {one.id for one in called if isinstance(one, ast.Name) and one.id[0].isupper()}


def test_what_is_raised_is_said():
    """A public function that contains `raise X` names X."""
    silent = [
        f"{where}: {name}"
        for where, node, text in _functions()
        for name in sorted(_raised(node))
        if name not in text
    ]
    assert not silent, "\n".join(silent)


def _is_unit(node: Function) -> bool:
    """A unit of work: it is the database's, which says what cancelling one does."""
    return "conn" in [argument.arg for argument in node.args.args[:2]]


def test_what_cancellation_does_is_said():
    """Public async functions of the kernel, the edge and the bridge say what cancelling them does."""
    silent = [
        where
        for where, node, text in _functions("actors/kernel", "routes/edge", "persistence/bridge")
        if isinstance(node, ast.AsyncFunctionDef) and not _is_unit(node) and "ancel" not in text
    ]
    assert not silent, "\n".join(silent)


# Types that say nothing of what a value is for; and names that say it: with a unit, or one of the glossary's words.
BARE = {"str", "int", "float", "bool", "bytes", "object", "Any", "None"}
SPEAKING = re.compile(r"(_id|_ids|_ms|_s|_seconds|_bytes)$|^(id|ids|kind|limit|offset|epoch|seq)$|^_|_$")
ELSEWHERE = "which says what each argument means"
"""In the docstring of a function whose arguments are the fields of a class that it names."""


def _is_bare(annotation: ast.expr | None) -> bool:
    if annotation is None:
        return True
    nodes = list(ast.walk(annotation))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names <= BARE and not any(isinstance(node, ast.Attribute) for node in nodes)


def test_arguments_speak_for_themselves_or_are_explained():
    """Of two or more arguments, each that neither its type nor its name explains stands in the docstring."""
    mute = []
    for where, node, text in _functions():
        arguments = [
            argument
            for argument in (*node.args.args, *node.args.kwonlyargs)
            if argument.arg not in ("self", "cls", "conn", "call", "service", "session")
        ]
        if len(arguments) < 2 or ELSEWHERE in text:
            continue
        mute += [
            f"{where}: {argument.arg}"
            for argument in arguments
            if _is_bare(argument.annotation)
            and not SPEAKING.search(argument.arg)
            and re.search(rf"\b{argument.arg}\b", text) is None
        ]
    assert not mute, "\n".join(mute)


def test_nothing_is_left_for_later():
    """No marks of unfinished work, and no names of people or dates to rot in comments."""
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
    found = [
        f"{source.path}:{number}"
        for source in sources(*LAYERS, "partyline", "scripts", "tests")
        if any(mark in source.text for mark in marks)
        for number, line in enumerate(source.text.splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert not found, "\n".join(found)
