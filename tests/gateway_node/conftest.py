"""What tests of the gateway share."""

import pytest

from scripts.gateway_node import backends, carrying
from tests.gateways.conftest import world
from tests.support.waiting import PATIENCE_SECONDS

__all__ = ["world"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is too slow for what is not about time."""
    monkeypatch.setattr(carrying, "OPENING_SECONDS", PATIENCE_SECONDS)
    for bound in ("CONNECT_SECONDS", "OWN_SECONDS"):
        monkeypatch.setattr(backends, bound, PATIENCE_SECONDS)
