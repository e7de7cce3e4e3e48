"""What can be wrong with a backup."""

from persistence.errors import PersistenceError


class BackupFault(PersistenceError):
    """A backup cannot be made or used; the message says why in one line."""


def altered() -> BackupFault:
    """The fault to raise for a backup whose content is incomplete or changed."""
    return BackupFault("the backup was cut off or altered")
