"""Networks of game servers, over HTTP."""
