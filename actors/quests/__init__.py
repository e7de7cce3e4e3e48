"""Daily quests: what is to be done on a day, and what it earns."""
