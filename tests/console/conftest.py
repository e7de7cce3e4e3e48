"""Fixtures of the tests of the console."""

from collections.abc import Iterator

import pytest

from tests.console.stage import close_browser
from tests.support.world import world

__all__ = ["world"]


@pytest.fixture(autouse=True, scope="session")
def browser_of_this_process() -> Iterator[None]:
    """Whatever browser the stories start ends with them."""
    yield
    close_browser()
