"""What can be wrong with a backup."""

from persistence.errors import PersistenceError


class BackupFault(PersistenceError):
    """A backup cannot be made or used; the message says why in one line."""


def altered() -> BackupFault:
    """The fault of a file that is not whole."""
    return BackupFault("the backup was cut off or altered")
