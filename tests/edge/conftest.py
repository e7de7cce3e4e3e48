"""Fixtures of the edge's tests."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from routes.edge.server.quart_app import EdgeApp
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import FixedClock
from tests.edge.certificate import Certificate
from tests.edge.parts import Parts
from tests.edge.sample import serving


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def sockets(clock: FixedClock) -> Sockets:
    return Sockets(clock, Random(1))


@pytest.fixture
def parts() -> Parts:
    return Parts()


@pytest.fixture
async def app(parts: Parts) -> AsyncIterator[EdgeApp]:
    async with serving(parts) as app:
        yield app


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return Certificate(tmp_path)


@pytest.fixture(autouse=True)
def faults() -> Iterator[list[EventDict]]:
    """The log: a fault that the server contained fails the test, unless the test takes it out."""
    with capture_logs() as lines:
        yield lines
    assert not [line for line in lines if line["event"] == "connection failed"]
