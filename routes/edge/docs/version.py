"""Which version of the service this is."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("partyline")
    except PackageNotFoundError:
        return "unreleased"


VERSION = _installed()
"""As in pyproject.toml; `unreleased` when it runs without having been installed."""
