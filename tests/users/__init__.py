"""Users, tokens, permissions: rules as tables, forged tokens, races, and the routes."""
