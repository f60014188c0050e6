"""The tables that only plugins fill: panels, probes and sources. Import it only after plugins are loaded."""

from operator import attrgetter
from typing import Final

from gputop.core.plugins.named_source import NamedSource
from gputop.core.plugins.panel import Panel
from gputop.core.probing.probe import Probe
from gputop.core.table_rows import joined

PANELS: Final[tuple[Panel, ...]] = joined("panels", (), attrgetter("key"))
PROBES: Final[tuple[Probe, ...]] = joined("probes", (), attrgetter("key"))
SOURCES: Final[tuple[NamedSource, ...]] = joined("sources", (), attrgetter("key"))
