"""A machine that has no room for more for a moment."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_more_files() -> Iterator[None]:
    """For the block this process opens no file, and so starts no process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
