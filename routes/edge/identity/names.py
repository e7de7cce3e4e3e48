"""The rules for users' names."""

NAME_MAX = 64
"""Most characters of a user's name."""


def is_name(text: str) -> bool:
    """Whether a text may be a user's name: 1 to 64 printable characters, without white space at its ends."""
    return 0 < len(text) <= NAME_MAX and text.isprintable() and text == text.strip()
