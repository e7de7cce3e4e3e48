"""Language tags (BCP 47): which there are, and the one spelling that each is stored and sought in. Pure."""

import re

MAX_LOCALE_CHARACTERS = 35

_FORM = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,16}", re.ASCII)

_REGION, _SCRIPT = 2, 4
"""How many characters these subtags have; a script has letters alone."""


def is_locale(text: str) -> bool:
    """Whether this has the form of a language tag."""
    return len(text) <= MAX_LOCALE_CHARACTERS and _FORM.fullmatch(text) is not None


def spelled(locale: str) -> str:
    """The tag as it is written by convention, such as `de-AT`: case means nothing in one (RFC 5646 section 2.1.1)."""
    language, *others = locale.lower().split("-")
    subtags = [language]
    for place, subtag in enumerate(others):
        if len(subtag) == 1:  # what follows is an extension, or private
            return "-".join([*subtags, *others[place:]])
        is_script = len(subtag) == _SCRIPT and subtag.isalpha()
        subtags.append(subtag.upper() if len(subtag) == _REGION else subtag.title() if is_script else subtag)
    return "-".join(subtags)
