"""A small voice node: it registers with Partyline, checks tokens, and relays frames between the clients in a room."""
