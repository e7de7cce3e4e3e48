"""Runs of three characters (trigrams), by which GIN indexes find substrings."""


def trigrams_of(text: str) -> set[str]:
    """The trigrams of a text, which every text that contains it has too; the text itself if it has fewer than three
    characters."""
    return {text[start : start + 3] for start in range(len(text) - 2)} if len(text) > 3 else {text}
