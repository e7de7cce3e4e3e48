"""The service's settings: their table, their parsers, and how they are read."""
