"""The commands of `partyline`, one module each; `routes/cli/main.py` reads their arguments."""
