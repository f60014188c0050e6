"""Exit statuses, and the errors that end a use case: the sentence to print, and the status."""

from typing import Final

OK: Final = 0
SOME: Final = 1  # a change worked for some of its targets
CANNOT_WRITE: Final = 1
BAD_INPUT: Final = 2
NO_DRIVER: Final = 3
UNKNOWN: Final = 3  # the driver or /proc does not answer
NONE: Final = 4  # a change worked for no target


class UseCaseError(Exception):
    """The end of a use case. The text says what happened and what the user can do; ``status``: the exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class BadRequestError(UseCaseError):
    """The request is invalid. A command whose status 2 is a verdict ends with its own status for bad input."""

    def __init__(self, text: str) -> None:
        super().__init__(BAD_INPUT, text)
