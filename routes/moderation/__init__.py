"""Routes of moderators: what waits for them, and their notes about users."""
