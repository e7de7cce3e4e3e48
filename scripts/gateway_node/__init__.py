"""A gateway: carries players to the game servers behind the names that they connect to."""
