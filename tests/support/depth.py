"""How many examples tests play that could play any number: a small one in every run, and with `scripts/test --long` as
many as are wanted before a release. Such a test is marked `deep`.
"""

import os

LONG = os.environ.get("TESTS_LONG") == "1"
"""Whether this run plays the large numbers."""


def depth(usual: int, *, long: int) -> int:
    """How many examples, seeds or requests this run plays.

    Args:
        usual: the number for every run.
        long: the number with `--long`.
    """
    return long if LONG else usual
