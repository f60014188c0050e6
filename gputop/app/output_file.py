"""An output file of a command that has more to print: a failure is a warning, and an exit status at the end."""

from gputop.app.errors import CANNOT_WRITE, OK
from gputop.app.terminal import warn
from gputop.core.text.text import clean
from gputop.machine.files.output import write_output


def write_file(path: str, content: bytes) -> int:
    """Write a file, and return the exit status if nothing else is wrong."""
    try:
        write_output(path, content)
    except OSError as error:
        warn(f"{clean(path)}: {error.strerror}")
        return CANNOT_WRITE
    return OK
