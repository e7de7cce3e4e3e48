"""`partyline export --user ID FILE`: exports a user's data as a zip of JSON and files (GDPR article 20).

The records of the domains say which rows are exported. It can be made while the server runs.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from persistence.blobs import Blobs
from persistence.bridge.database import Database
from persistence.exporting import export
from persistence.new_file import new_file
from routes.cli.faults import CommandFault
from routes.domain import Domains

EXPORT_SECONDS = 3600.0

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]+")


async def export_user(user_id: str, path: Path, database: Database, blobs: Blobs, domains: Domains) -> str:
    """Write the file of an export; returns the line to print about it.

    Args:
        user_id: the uuid, in lower case, of the user whose data is exported.
        path: the zip file, which must not exist yet; only the user of this process may read it.
        database: the open, migrated database.
        blobs: the store of attachments.
        domains: the domains whose rows are exported.

    Raises:
        CommandFault: there is no such user, or the file exists or cannot be written; no file is left.
        DatabaseUnavailable: the export took too long, or the database cannot be asked; no file is left.
    """
    tables = [table for domain in domains for table in domain.exported]
    try:
        with new_file(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
            receiver = _Zip(archive, blobs)
            try:
                known = await database.transact(
                    export, user_id, tables, receiver, timeout_seconds=EXPORT_SECONDS
                )
            finally:
                # An archive cannot be closed while one of its files is open.
                receiver.end()
            if not known:
                raise CommandFault(f"there is no user {user_id}")
    except OSError as error:
        raise CommandFault(f"{path}: {error.strerror or error}") from error
    return f"{path}: {receiver.rows} rows, {receiver.files} files"


class _Zip:
    """Writes `<table>.json` for each table that has rows, and files below `files/<table>/`."""

    def __init__(self, archive: ZipFile, blobs: Blobs) -> None:
        self._archive = archive
        self._blobs = blobs
        self._table = ""
        self._open: IO[bytes] | None = None
        self.rows = 0
        self.files = 0

    def begin(self, table: str) -> None:
        self._table = table

    def row(self, row: Mapping[str, Any]) -> None:
        self.rows += 1
        if self._open is None:
            self._open = self._archive.open(f"{self._table}.json", "w", force_zip64=True)
            self._open.write(b"[\n")
        else:
            self._open.write(b",\n")
        self._open.write(msgspec.json.encode(row))

    def end(self) -> None:
        if self._open is not None:
            self._open.write(b"\n]\n")
            self._open.close()
            self._open = None

    def file(self, table: str, name: str, data: bytes) -> None:
        self.files += 1
        self._archive.writestr(_path(table, name), data)

    def blob(self, table: str, name: str, digest: bytes) -> None:
        path = self._blobs.path(digest)
        if path.exists():
            self.files += 1
            self._archive.write(path, _path(table, name))


def _path(table: str, name: str) -> str:
    return f"files/{table}/{_NOT_IN_NAMES.sub('-', name)}"
