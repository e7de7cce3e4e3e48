"""What went wrong, out of what trio made of it."""


def first(error: BaseException) -> BaseException:
    """The first single error of a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
