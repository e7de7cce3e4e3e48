"""Modrinth and CurseForge for launchers: equal requests are sent once, and answers kept in memory (contract §10)."""
