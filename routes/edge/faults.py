"""What an operator can do something about: one line, no traceback."""


class OperatorFault(Exception):
    """The message is one line for whoever runs the server, and says what is to be done."""
