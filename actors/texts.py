"""Which characters the text of users may have: one rule for all that people write to each other.

Ordinary Unicode passes, with all its emoji and scripts. Control characters do not: they act on terminals and logs and
take six bytes each in JSON. A name, label or title is one line within text of others, so characters that break the
line or change the direction of what follows are refused as well.
"""

import re

SENTENCE = "no control characters but line breaks and tabs"
"""The error message for a text that does not pass."""

LINE_SENTENCE = "one line of printable characters"
"""The error message for a line that does not pass."""

BAD_TEXT = "BAD_TEXT"
"""The code of a field with such a text."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Python does not count these as printable, but emoji and several scripts need them: joiners, direction marks that act
# on a single word, and the letters of regional flags.
_JOINING = re.compile("[\u200c-\u200f\U000e0020-\U000e007f]")


def with_line_feeds(text: str) -> str:
    """The text with each line break as one line feed, as clients on every system write and read it.

    Args:
        text: line breaks are CR LF, CR or LF.

    Returns:
        The same object where nothing is to be changed.
    """
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_text(text: str) -> bool:
    """Whether it may stand as text of several lines: no control characters but line feed and tab. Takes linear time."""
    return text.isprintable() or _CONTROL.search(text) is None


def line_flaw(text: str, max_characters: int) -> tuple[str, str] | None:
    """Check a text that is to stand within a line; returns the code and sentence of a field error, or None.

    It must have 1 to `max_characters` characters: printable ones, and joiners between them. The length is checked
    first; takes linear time.
    """
    if not text:
        return "REQUIRED", f"1 to {max_characters} characters"
    if len(text) > max_characters:
        return "TOO_LONG", f"at most {max_characters} characters"
    if text.isprintable():
        return None
    shown = _JOINING.sub("", text)
    return None if shown and shown.isprintable() else (BAD_TEXT, LINE_SENTENCE)
