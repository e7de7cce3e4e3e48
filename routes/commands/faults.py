"""What goes wrong in a command in a way that its user can do something about: one line, no traceback."""


class CommandFault(Exception):
    """The command cannot do what was asked; the message is one line for its user."""
