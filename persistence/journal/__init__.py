"""What a turn leaves behind, and its commit."""
