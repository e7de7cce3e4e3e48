"""Continuous archiving of the embedded database: what has to be kept so that any moment can be restored."""
