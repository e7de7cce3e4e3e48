"""Publications of servers and networks: states, statuses, and the public list."""
