"""What tests of several nodes share."""

from tests.support.cluster import cluster, nats

__all__ = ["cluster", "nats"]
