"""Daily quests as rows."""
