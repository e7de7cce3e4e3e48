"""What users keep with us beside their settings, what anybody sees of them, and forgetting them."""
