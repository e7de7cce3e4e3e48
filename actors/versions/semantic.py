"""Versions by SemVer 2.0.0: what is one, and which comes first. Pure."""

from functools import lru_cache

from semver import Version

VERSION_MAX = 64
"""Most characters of a version; checked before anything parses it."""


def is_version(text: str) -> bool:
    """Whether a text is a version, such as `1.4.0-beta.2+build.7`, without a `v` in front."""
    return len(text) <= VERSION_MAX and Version.is_valid(text)


def precedence(version: str) -> Version:
    """The key by which versions are ordered; build metadata does not count (SemVer §10).

    Args:
        version: a valid version (`is_version`).
    """
    return _parsed(version)


@lru_cache(maxsize=4_096)
def _parsed(version: str) -> Version:
    return Version.parse(version)
