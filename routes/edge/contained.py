"""A wall around one connection: whatever it raises is reported, and ends no other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


@contextmanager
def contained(report: Callable[[BaseException], None]) -> Iterator[None]:
    """A `with` block whose exceptions are reported and go no further; cancellation passes.

    Args:
        report: called with the exception, or with the group of those that are not cancellations.
    """
    try:
        yield
    except Exception as error:
        report(error)
    except BaseExceptionGroup as group:
        # A nursery that failed while it was cancelled raises both together: the fault is reported, the cancellation
        # goes on.
        cancelled, faults = group.split(trio.Cancelled)
        if faults is not None:
            report(faults)
        if cancelled is not None:
            raise cancelled from None
