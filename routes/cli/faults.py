"""What goes wrong in a command in a way that its user can do something about: one line, no traceback."""

from routes.edge.faults import OperatorFault


class CommandFault(OperatorFault):
    """The command cannot do what was asked; the message is one line for its user."""
