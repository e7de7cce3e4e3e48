"""What memory holds, by the place where it is held, such as `part party kinds.render_cache._kept`.

A place is a way that leads to a collection: `.name` is an attribute, `[]` any value of a collection, `{}` any key of a
dict, `<name>` what a function has closed over. All collections that are reached by one way count as one.
"""

import gc
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import _lru_cache_wrapper
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, TypeAlias

OURS = ("actors", "persistence", "routes")
"""The packages whose objects are counted, and whose modules may hold something."""

_LEAVES = (str, bytes, int, float, type, ModuleType, CodeType, BuiltinFunctionType, _lru_cache_wrapper)
_LIBRARIES = ("_asyncio", "asyncio", "asyncpg", "logging", "ssl", "structlog", "tests", "trio", "uvloop")
"""Where the walk ends: they know one another all, so that no place would say anything."""


Root: TypeAlias = tuple[str, object]
"""(place, object there), from which a walk begins; several may be at the same place, such as one in each node."""


class Held:
    """What a walk has found.

    Attributes:
        sizes: {place: how many things all collections there hold together}.
        accounted: the ids of all objects below the places that are kept on purpose.
    """

    def __init__(self) -> None:
        self.sizes: Counter[str] = Counter()
        self.accounted: set[int] = set()


def walk(roots: Sequence[Root], kept: Iterable[str]) -> Held:
    """Look at all that is reached from these roots, the nearest first.

    Args:
        roots: from where.
        kept: places whose sizes alone are of interest; what else is held below them is noted as accounted for.
    """
    held, seen = Held(), {id(root): root for _, root in roots}
    ends: list[object] = []
    stops, todo = set(kept), deque(roots)
    while todo:
        place, one = todo.popleft()
        if (size := _size(one)) is not None:
            held.sizes[place] += size
        if place in stops:
            ends.append(one)
        else:
            todo.extend((place + step, part) for step, part in _new_parts(one, seen))
    while ends:
        one = ends.pop()
        held.accounted.add(id(one))
        ends.extend(part for _, part in _new_parts(one, seen))
    return held


def modules() -> Iterator[Root]:
    """The collections of our modules, which live as long as the process."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OURS:
            for called, one in vars(module).items():
                if isinstance(one, dict | list | set | deque | _lru_cache_wrapper) and not called.startswith(
                    "__"
                ):
                    yield f"{name}.{called}", one


def of_ours(one: object) -> str | None:
    """The name of an object's type, if it is one of ours."""
    return f"{type(one).__module__}.{type(one).__qualname__}" if _package(one) in OURS else None


def _package(one: object) -> str:
    """The package of an object's type; few types have something else than a text for it."""
    return str(type(one).__module__).partition(".")[0]


def _size(one: object) -> int | None:
    if isinstance(one, dict | list | set | deque):
        return len(one)
    if (
        isinstance(one, _lru_cache_wrapper) and one.cache_info().maxsize is None
    ):  # else its own size bounds it
        return one.cache_info().currsize
    return None


def _new_parts(one: object, seen: dict[int, object]) -> Iterator[tuple[str, Any]]:
    """The parts of an object that were not seen yet. They are kept in `seen`, lest another one get the same id."""
    for step, part in _parts(one):
        if part is None or isinstance(part, _LEAVES) or id(part) in seen:
            continue
        if _package(part) not in _LIBRARIES:
            seen[id(part)] = part
            yield step, part


def _parts(one: object) -> Iterator[tuple[str, Any]]:
    """(step, part) of all that an object refers to."""
    if isinstance(one, _lru_cache_wrapper):
        return
    if isinstance(one, dict):
        for key, value in list(one.items()):
            yield "{}", key
            yield "[]", value
    elif isinstance(one, list | tuple | set | frozenset | deque):
        yield from (("[]", each) for each in list(one))
    elif isinstance(one, MethodType):
        yield "", one.__self__
    elif isinstance(one, FunctionType):
        for name, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=True):
            yield from ((f"<{name}>", each) for each in gc.get_referents(cell))
    else:
        yield from ((f".{name}", each) for name, each in _attributes(one))
        # What has no name, such as the attributes of what is compiled.
        own = getattr(one, "__dict__", None)
        yield from (("", each) for each in gc.get_referents(one) if each is not own)


def _attributes(one: object) -> Iterator[tuple[str, object]]:
    yield from list(getattr(one, "__dict__", {}).items())
    for base in type(one).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, MemberDescriptorType) and (each := getattr(one, name, None)) is not None:
                yield name, each
