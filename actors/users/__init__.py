"""Users: their identity, their rights, and the data that they store."""
