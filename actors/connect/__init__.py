"""Game servers: their actors, their credentials, their owners and members, and the players on them."""
