"""What `gputop probe` can run: the probes of plugins. gputop has none of its own."""

from operator import attrgetter
from typing import Final

from gputop.core.plugged import joined
from gputop.core.probe_row import Probe

_OWN: tuple[Probe, ...] = ()
PROBES: Final = joined("probes", _OWN, attrgetter("key"))
