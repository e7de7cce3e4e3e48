"""The C library's memory: what a large body took goes back to the system when it is freed."""

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
