"""What is kept of the catalogues of mods, and how two of them become one list."""
