"""How the nodes of one service reach each other."""
