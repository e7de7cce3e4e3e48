"""What can go wrong with a cluster on this machine, or with the folders of one server."""

from persistence.errors import PersistenceError


class ClusterInUse(PersistenceError):
    """Another server runs this cluster."""


class ClusterFaulty(PersistenceError):
    """The cluster cannot be made, started or ended; the message says why, in one line."""
