"""Reports of users to moderators."""
