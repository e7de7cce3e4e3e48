"""Discord webhooks of networks and the posts that wait for them, in rows."""
