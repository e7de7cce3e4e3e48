"""Errors of a command that its user can fix: printed as one line, without a traceback."""

from routes.edge.faults import OperatorFault


class CommandFault(OperatorFault):
    """The command cannot be carried out; the message is one line for its user."""
