"""Public servers that users have saved, as rows."""
