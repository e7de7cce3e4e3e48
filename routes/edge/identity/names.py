"""What users may be called."""

NAME_MAX = 64
"""Characters of a user's name."""


def is_name(text: str) -> bool:
    """Whether a user may be called this: 1 to 64 printable characters, no white space at the ends."""
    return 0 < len(text) <= NAME_MAX and text.isprintable() and text == text.strip()
