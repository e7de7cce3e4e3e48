"""Public servers that users have saved: who may see them, and what changes them."""
