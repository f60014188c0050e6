"""What holds for all tests."""

import os
from types import FunctionType

from hypothesis import HealthCheck, settings

FUZZ = "GPUTOP_FUZZ"  # how many random examples a property gets with `make fuzz`; else always the same few
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large]  # on a busy machine
settings.register_profile("gputop", deadline=None, derandomize=True, suppress_health_check=CHECKS)
if FUZZ in os.environ:
    settings.register_profile(FUZZ, deadline=None, max_examples=int(os.environ[FUZZ]), suppress_health_check=CHECKS)
settings.load_profile(FUZZ if FUZZ in os.environ else "gputop")

for caller in ("SUDO_USER", "DOAS_USER", "PKEXEC_UID"):
    os.environ.pop(caller, None)  # the directories that a test names are its own, also with sudo


def pytest_xdist_auto_num_workers() -> int:
    """Run twice as many workers as there are cores: half of the time they wait, for a screen at rest or for a child."""
    return 2 * (os.cpu_count() or 1)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name functions by their names: pytest would take their addresses, which differ from worker to worker."""
    return val.__name__ if isinstance(val, FunctionType) else None
