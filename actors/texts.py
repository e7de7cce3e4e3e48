"""Which characters the text of users may have: one rule for all that people write to each other.

Ordinary Unicode passes, with all its emoji and scripts. Control characters do not: they act on terminals and logs and
take six bytes each in JSON. A name, label or title is one line within text of others, so characters that break the
line or change the direction of what follows are refused as well.
"""

import re

from actors.errors import Invalid
from actors.field_errors import FieldError

SENTENCE = "no control characters but line breaks and tabs"
"""The error message for a text that does not pass."""

LINE_SENTENCE = "one line of printable characters"
"""The error message for a line that does not pass."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Python does not count these as printable, but emoji and several scripts need them: joiners, direction marks that act
# on a single word, and the letters of regional flags.
_JOINING = re.compile("[\u200c-\u200f\U000e0020-\U000e007f]")


def with_line_feeds(text: str) -> str:
    """The text with each line break as one line feed, as clients on every system write and read it.

    Args:
        text: a text with CR LF, CR or LF for line breaks.

    Returns:
        The same object where nothing is to be changed.
    """
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def without_controls(text: str) -> str:
    """The text with line feeds for line breaks, and without the control characters that `is_text` refuses."""
    return text if text.isprintable() else _CONTROL.sub("", with_line_feeds(text))


def without_joiners(text: str) -> str:
    """The text without its joiners, which do not show: to be compared with names that have none."""
    return _JOINING.sub("", text)


def is_text(text: str) -> bool:
    """Whether a text passes as one of several lines: no control characters but line feed and tab. Takes linear
    time."""
    return text.isprintable() or _CONTROL.search(text) is None


def is_line(text: str) -> bool:
    """Whether a text may stand within a line: printable characters, and joiners between them. Takes linear time."""
    if text.isprintable():
        return True
    shown = without_joiners(text)
    return bool(shown) and shown.isprintable()


def line(text: str, pointer: str, max_characters: int) -> str:
    """Check a text that is to stand within a line; returns the text.

    Args:
        text: already trimmed, if its field is trimmed.
        pointer: the JSON pointer to its field.
        max_characters: most characters that pass.

    Raises:
        Invalid: the text does not pass; it has the error of `line_flaws`.
    """
    return _sound(text, line_flaws(text, pointer, max_characters))


def lines(text: str, pointer: str, max_characters: int) -> str:
    """Check a text of several lines, which may be empty; returns it with line feeds for line breaks.

    Args:
        text: already trimmed, if its field is trimmed.
        pointer: the JSON pointer to its field.
        max_characters: most characters that pass; a line break counts as one.

    Raises:
        Invalid: the text does not pass; it has the error of `lines_flaws`.
    """
    kept = with_line_feeds(text)
    return _sound(kept, lines_flaws(kept, pointer, max_characters))


def lines_or_none(text: str | None, pointer: str, max_characters: int) -> str | None:
    """Check a text of several lines that may be left out, as `lines` does; None stays None.

    Args:
        text, pointer, max_characters: as for `lines`.

    Raises:
        Invalid: the text does not pass; it has the error of `lines_flaws`.
    """
    return None if text is None else lines(text, pointer, max_characters)


def line_flaws(text: str, pointer: str, max_characters: int) -> list[FieldError]:
    """The error of a text that is to stand within a line, in a list; an empty list if it passes.

    It must have 1 to `max_characters` characters, and be a line (`is_line`). The length is checked first; takes linear
    time. The error names the field by its JSON `pointer`.
    """
    if not text:
        return [FieldError(pointer, "REQUIRED", f"1 to {max_characters} characters")]
    if len(text) > max_characters:
        return [FieldError(pointer, "TOO_LONG", f"at most {max_characters} characters")]
    return [] if is_line(text) else [FieldError(pointer, "BAD_TEXT", LINE_SENTENCE)]


def lines_flaws(text: str, pointer: str, max_characters: int, *, required: bool = False) -> list[FieldError]:
    """The error of a text of several lines, in a list; an empty list if it passes. Takes linear time.

    Args:
        text: with line feeds for line breaks (`with_line_feeds`).
        pointer: the JSON pointer to its field.
        max_characters: most characters that pass.
        required: whether an empty text is an error.
    """
    if required and not text:
        return [FieldError(pointer, "REQUIRED", f"1 to {max_characters} characters")]
    if len(text) > max_characters:
        return [FieldError(pointer, "TOO_LONG", f"at most {max_characters} characters")]
    return [] if is_text(text) else [FieldError(pointer, "BAD_TEXT", SENTENCE)]


def _sound(text: str, flaws: list[FieldError]) -> str:
    if flaws:
        raise Invalid(*flaws)
    return text
