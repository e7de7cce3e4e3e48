"""Fixtures of the stories."""

import pytest

from tests.console.stage import LOOKS, Look
from tests.support.world import world

__all__ = ["world"]


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look.scheme}-{look.width}")
def look(request: pytest.FixtureRequest) -> Look:
    """How the browsers of a story are set up."""
    look: Look = request.param
    return look
