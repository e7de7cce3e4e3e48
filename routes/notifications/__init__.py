"""What a user is notified of: the list, and the channel (contract §5)."""
