"""A small game server: what an operator would write, and an example of how to."""
