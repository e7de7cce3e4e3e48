"""The position at which lists that are sorted newest first begin."""

BEFORE_ANY = (2**63 - 1, "")
"""A position `(epoch ms, id)` that comes before every row of such a list: the first page is the one behind it."""
