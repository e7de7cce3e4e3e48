"""The version of the service."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("partyline")
    except PackageNotFoundError:
        return "unreleased"


VERSION = _installed()
"""The version in pyproject.toml; `unreleased` when the package is not installed."""
