"""News: articles, feeds, follows, polls, RSS, and the live channel."""
