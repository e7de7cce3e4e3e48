"""News: articles with polls, written by teams and server owners; feeds of them, and who follows what."""
