"""Public servers that users have saved."""
