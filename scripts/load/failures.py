"""Finds the error in the exception groups that trio makes of it."""


def first(error: BaseException) -> BaseException:
    """The first error in a group, however deep it lies."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
