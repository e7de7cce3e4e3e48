"""Networks of game servers, in rows."""
