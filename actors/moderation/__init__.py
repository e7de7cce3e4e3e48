"""What moderators have to judge, and what they note about users."""
