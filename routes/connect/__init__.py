"""Game servers: registering, claiming, credentials, and the players who let them act."""
