"""A source of samples as a row, in addition to the driver, simulated boxes and recordings."""

from collections.abc import Callable

from msgspec import Struct

from gputop.core.monitor import Source


class NamedSource(Struct, frozen=True, kw_only=True):
    """A source that ``--source KEY:ARGUMENT`` names.

    ``open`` makes it from the argument, which may be empty. For an invalid argument it raises ValueError with a message
    for the user. ``help`` explains the argument.
    """

    key: str
    help: str
    open: Callable[[str], Source]
