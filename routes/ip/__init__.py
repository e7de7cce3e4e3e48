"""Where addresses are."""
