"""Users: tokens, rights, profiles, shared profiles, and erasure."""
