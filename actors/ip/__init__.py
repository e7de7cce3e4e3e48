"""Where public addresses are."""
