"""Settings of glibc's allocator, so that memory freed after large bodies or load peaks returns to the system."""

import ctypes
from functools import cache

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_MAPPED_FROM_BYTES = 1024 * 1024
_KEPT_BYTES = 8 * 1024 * 1024


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"
        )
    )  # fmt: skip


def free_bytes() -> int:
    """How many bytes are free below blocks in use, in all arenas; 0 with a C library that does not tell.

    They count as resident memory until `return_free_pages`; those that do not fill a page stay resident after it.
    """
    mallinfo = getattr(_libc(), "mallinfo2", None)
    if mallinfo is None:
        return 0
    mallinfo.restype = _MallocInfo
    return int(mallinfo().fordblks)


def return_large_blocks() -> None:
    """Map blocks of 1 MiB and more one by one, and keep at most 8 MiB free at the end of an arena.

    By default glibc raises both limits to the size of the largest block ever freed, up to 32 and 64 MiB, for the arena
    of each thread: after uploads of 8 MiB the process kept 200 MB for good. Does nothing with a C library that has no
    `mallopt`; those do not need it.
    """
    mallopt = getattr(_libc(), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def return_free_pages() -> None:
    """Return every free page between blocks in use to the system, in all arenas.

    By itself glibc returns only free memory at the end of an arena. After one minute of the heaviest load that a single
    user may cause, 39 MB of free pages lay below blocks in use and would have stayed. Takes some ms, without the GIL.
    """
    malloc_trim = getattr(_libc(), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
