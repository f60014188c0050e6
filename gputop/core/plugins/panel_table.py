"""The panels that plugins add to the screen. gputop's own know the screen, and are no rows."""

from operator import attrgetter
from typing import Final

from gputop.core.plugins.panel import Panel
from gputop.core.table_rows import joined

_OWN: tuple[Panel, ...] = ()
PANELS: Final = joined("panels", _OWN, attrgetter("key"))
