"""Users: tokens, rights, profiles, what they share, and forgetting them."""
