"""Tries the container image as docs/install.md has it run."""
