"""A small voice node: it registers with Partyline, checks tokens, and relays frames between who is in a room."""
