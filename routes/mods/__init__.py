"""Modrinth and CurseForge for launchers: asked once for all who ask the same, kept in memory (contract §10)."""
