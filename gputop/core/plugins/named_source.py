"""A source of samples as a row, beside the driver, simulated boxes and tapes."""

from collections.abc import Callable

from msgspec import Struct

from gputop.core.monitor import Source


class NamedSource(Struct, frozen=True, kw_only=True):
    """A source that ``--source KEY:ARGUMENT`` names.

    ``open`` makes it of the argument, which is empty where there is none. It raises ValueError, in words for the user,
    for an argument that it cannot use. ``help``: what the argument is.
    """

    key: str
    help: str
    open: Callable[[str], Source]
