"""Launchers as rows."""
