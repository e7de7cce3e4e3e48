"""Text of users within Discord's markdown: it shows as it was written, and neither formats, links nor mentions. Pure.

Discord takes a backslash in front of any character but letters, digits and spaces as that character alone.
"""

import re

from actors.texts import without_controls

_ACTING = re.compile(r"[\\*_~`|>#+\-\[\]()<@:.]")
ELLIPSIS = "…"


def escaped(text: str, most: int) -> str:
    """The text as it stands within a message, cut where it would be too long.

    Args:
        most: most characters of the result; escaping makes a text at most twice as long.
    """
    clean = without_controls(text[: most + 1]).strip()
    whole = _ACTING.sub(r"\\\g<0>", clean)
    if len(whole) <= most and len(text) <= most + 1:
        return whole
    kept, length = [], len(ELLIPSIS)
    for character in clean:
        piece = _ACTING.sub(r"\\\g<0>", character)
        if length + len(piece) > most:
            break
        kept.append(piece)
        length += len(piece)
    return "".join(kept) + ELLIPSIS
