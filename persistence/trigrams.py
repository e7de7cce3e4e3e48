"""Substrings by their runs of three characters, which GIN indexes have."""


def trigrams_of(text: str) -> set[str]:
    """The runs that everything with this text in it has: of three characters, or the text where it is shorter."""
    return {text[start : start + 3] for start in range(len(text) - 2)} if len(text) > 3 else {text}
