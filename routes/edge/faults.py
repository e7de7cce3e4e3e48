"""Errors that an operator can fix: shown as one line, without a traceback."""


class OperatorFault(Exception):
    """Base of errors whose message is one line for the operator, saying what to do."""


class CannotListen(OperatorFault):
    """An address cannot be bound: in use, not local, or not permitted. The message is one line for the operator."""
