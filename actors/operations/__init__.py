"""What operators see of the running service: its last hour in numbers, and its actors."""
