"""Networks of game servers: who owns them, what joins them, and which domains are theirs."""
