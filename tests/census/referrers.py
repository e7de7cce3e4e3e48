"""Who holds an object, for whoever looks for a leak."""

import gc
from types import CellType, FrameType, FunctionType, GeneratorType

HOPS = 4


def chains(found: list[object], hops: int = HOPS) -> list[str]:
    """How objects are held, as `object < its holder < that one's holder`, without repeating a way.

    Args:
        found: some objects of one type.
        hops: how far each is followed.
    """
    return list(dict.fromkeys(" < ".join(_chain(one, hops, found)) for one in found))


def _chain(one: object, hops: int, found: list[object]) -> list[str]:
    names, seen = [_called(one)], [found, one]
    for _ in range(hops):
        holders = [each for each in gc.get_referrers(one) if not _is_ours(each, seen)]
        if not holders:
            names.append("nobody that the collector knows")
            break
        one = holders[0]
        seen.append(one)
        names.append(_called(one))
    return names


def _is_ours(holder: object, seen: list[object]) -> bool:
    """Whether a holder is this very search, or was met on the way."""
    return (
        isinstance(holder, FrameType | GeneratorType) or holder is seen or any(holder is one for one in seen)
    )


def _called(one: object) -> str:
    if isinstance(one, FunctionType):
        return f"function {one.__qualname__}"
    if isinstance(one, CellType):
        return "a closure"
    if isinstance(one, dict | list | set):
        return f"{type(one).__name__} of {len(one)}"
    return f"{type(one).__module__}.{type(one).__qualname__}"
