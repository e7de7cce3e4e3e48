"""Tests of daily quests."""
