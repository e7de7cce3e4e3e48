"""How far tests go that draw from what never ends: every run plays a share of it, `scripts/test --long` as much as is
wanted before a release. Such a test is marked `deep`.
"""

import os

LONG = os.environ.get("TESTS_LONG") == "1"
"""Whether this run goes all the way."""


def depth(usual: int, *, long: int) -> int:
    """How many examples, seeds or requests this run plays.

    Args:
        usual: in every run.
        long: with `--long`.
    """
    return long if LONG else usual
