"""What ``--source`` can name: the sources of plugins. The driver, a simulated box and a tape are chosen otherwise."""

from operator import attrgetter
from typing import Final

from gputop.core.plugged import joined
from gputop.core.source import NamedSource

_OWN: tuple[NamedSource, ...] = ()
SOURCES: Final = joined("sources", _OWN, attrgetter("key"))
