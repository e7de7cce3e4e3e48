"""Users: who they are, what they may do, and what they keep with us."""
