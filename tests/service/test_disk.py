"""What tables take on disk is looked at, and shown."""

from persistence.bridge.database import Database
from routes.disk import Disk


async def test_the_figures_of_the_last_look(database: Database) -> None:
    disk = Disk()
    await disk.look(database)
    assert disk.journal_bytes > 0
    assert disk.snapshot_bytes > 0
    assert disk.receipt_bytes > 0
