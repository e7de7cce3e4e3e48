"""Voice: who talks with whom, on which node, and for how long. Media flows elsewhere."""
