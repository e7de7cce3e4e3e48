"""Reports of users."""
