"""How the cost of what we do grows with how much of it there is: `scripts/grow`."""
