"""Routes of voice: nodes that carry media, channels, and the sessions of users in them."""
