"""Public servers that users have saved: who may see them, and the units of work that change them."""
