"""The C library's memory: what was taken for large bodies, or in a rush, goes back to the system when it is free."""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_MAPPED_FROM_BYTES = 1024 * 1024
_KEPT_BYTES = 8 * 1024 * 1024


def return_large_blocks() -> None:
    """Have blocks of a megabyte and more mapped one by one, and no more than 8 MiB kept at an arena's end.

    By itself glibc raises both bounds with the largest block that was ever freed, to 32 and 64 MiB, for each thread's
    arena: after uploads of 8 MiB the process kept 200 MB for good. Other C libraries have no such call, nor the need.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def return_free_pages() -> None:
    """Give the system every free page between blocks that are in use, of all arenas.

    Freed blocks go back by themselves only from an arena's end. After a user's worst minute 39 MB of free pages lay
    below blocks that live on, and would have stayed. Takes some ms, without the interpreter's lock.
    """
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
