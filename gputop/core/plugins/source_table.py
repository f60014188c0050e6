"""What ``--source`` can name: the sources of plugins. The driver, a simulated box and a tape are chosen otherwise."""

from operator import attrgetter
from typing import Final

from gputop.core.plugins.named_source import NamedSource
from gputop.core.table_rows import joined

_OWN: tuple[NamedSource, ...] = ()
SOURCES: Final = joined("sources", _OWN, attrgetter("key"))
