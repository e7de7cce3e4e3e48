"""Fixtures of the edge's tests."""

from collections.abc import Iterator
from random import Random

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from routes.edge.sockets import Sockets
from tests.edge.apps import FixedClock


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def sockets(clock: FixedClock) -> Sockets:
    return Sockets(clock, Random(1))


@pytest.fixture(autouse=True)
def faults() -> Iterator[list[EventDict]]:
    """The log: a fault that the server contained fails the test, unless the test takes it out."""
    with capture_logs() as lines:
        yield lines
    assert not [line for line in lines if line["event"] == "connection failed"]
