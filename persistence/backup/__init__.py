"""Backups: one file with the database, the keys and all stored files, written and read as a stream."""
