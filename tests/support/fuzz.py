"""The number of random examples: few in the ordinary tests, many with `make fuzz`."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

MOST: Final = int(os.environ.get("GPUTOP_FUZZ", "0"))
FEW: Final = settings(max_examples=MOST or 30)
FEWER: Final = settings(max_examples=max(25, MOST // 20))  # for a property that reads a whole machine
BETWEEN: Final = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
