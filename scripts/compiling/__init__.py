"""Compiles the modules that all traffic passes: which (`groups`), and how (`building`)."""
