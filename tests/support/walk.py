"""Which functions of the service run for one request: what the two walks of ARCHITECTURE.md are held against."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from opcode import opmap
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

LAYERS = ("routes/", "actors/", "persistence/")

BY_THE_CLOCK = ("/routes/jobs.py", "/actors/kernel/sweeps.py")
"""Files of what runs whether anybody asks for anything or not: what these call is not counted."""

LOOPS = {("unrolled_run", "trio"), ("_run", "asyncio")}
"""{(function, package)}: what calls tasks and callbacks, of which nothing further out is the caller."""


class Function(NamedTuple):
    """A function of the service: its file below the root, its first line and its name."""

    file: str
    line: int
    name: str


class Walk:
    """What has run.

    Attributes:
        calls: {function: how often it was called}.
        files: the file of each call, in order; of several calls after each other in one file only the first.
    """

    def __init__(self) -> None:
        self.calls: Counter[Function] = Counter()
        self.files: list[str] = []

    def note(self, function: Function) -> None:
        """Add a call."""
        self.calls[function] += 1
        if self.files[-1:] != [function.file]:
            self.files.append(function.file)


class Length(NamedTuple):
    """How long some walks are: what all have in common, each function as often as in the walk that has it least."""

    files: int
    functions: int
    calls: int


def length_of(walks: Sequence[Walk]) -> Length:
    """Measure walks, of which each has passed something by chance that the others have not."""
    shared = set.intersection(*(set(walk.calls) for walk in walks))
    calls = sum(min(walk.calls[one] for walk in walks) for one in shared)
    return Length(len({one.file for one in shared}), len(shared), calls)


class Tracer:
    """Notes calls while there is a walk, in this thread and in those that begin after `traced` has."""

    def __init__(self) -> None:
        self._walk: Walk | None = None

    @contextmanager
    def walk(self) -> Iterator[Walk]:
        """Note what is called in the block."""
        self._walk = walk = Walk()
        try:
            yield walk
        finally:
            self._walk = None

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Be told by the interpreter what happens."""
        if self._walk is None or event != "call":
            return
        function = _function(frame.f_code)
        if function is not None and _begins(frame) and not _is_beside(frame):
            self._walk.note(function)


@contextmanager
def traced() -> Iterator[Tracer]:
    """Trace this thread, and those that begin in the block."""
    tracer = Tracer()
    threading.setprofile(tracer.note)
    sys.setprofile(tracer.note)
    try:
        yield tracer
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@cache
def _function(code: CodeType) -> Function | None:
    """Which function of the service has this code; None for one of others."""
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    file = str(path.relative_to(ROOT))
    return Function(file, code.co_firstlineno, code.co_name) if file.startswith(LAYERS) else None


def _begins(frame: FrameType) -> bool:
    """Whether the function begins, rather than goes on behind an `await` or a `yield`."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] != opmap["RESUME"] or code[at + 1] & 3 == 0


def _is_beside(frame: FrameType) -> bool:
    """Whether it is called by a client, or by the clock."""
    caller: FrameType | None = frame
    while caller is not None and not _is_loop(caller.f_code):
        if _is_apart(caller.f_code):
            return True
        caller = caller.f_back
    return False


@cache
def _is_loop(code: CodeType) -> bool:
    return any(code.co_name == name and f"/{package}/" in code.co_filename for name, package in LOOPS)


@cache
def _is_apart(code: CodeType) -> bool:
    return "/tests/" in code.co_filename or code.co_filename.endswith(BY_THE_CLOCK)
