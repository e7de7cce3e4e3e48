"""Routes of daily quests."""
