"""What tests of the gateway with a service share."""

from tests.gateways.conftest import world

__all__ = ["world"]
