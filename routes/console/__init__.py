"""The web console: its page and what that loads."""
