"""How an endpoint is declared: route, arguments, body, rights."""
