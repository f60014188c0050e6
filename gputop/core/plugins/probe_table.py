"""What `gputop probe` can run: the probes of plugins. gputop has none of its own."""

from operator import attrgetter
from typing import Final

from gputop.core.probing.probe import Probe
from gputop.core.table_rows import joined

_OWN: tuple[Probe, ...] = ()
PROBES: Final = joined("probes", _OWN, attrgetter("key"))
