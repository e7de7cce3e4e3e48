"""The commands of `partyline`, one module each; `routes/cli.py` reads their arguments."""
