"""Networks of game servers: their owners, the servers that join them, and the domains they have claimed."""
