"""gputop with a driver whose changing calls fail: the first argument has their numbers, counted from 0, with commas.

``silent`` instead of numbers: a driver that tells no profiles while MIG is off.

It takes the place of `python -m gputop` in tests; the rest of the arguments are gputop's own.
"""

import sys
from collections.abc import Callable
from typing import Any

from gputop.cli.main import main
from gputop.machine.nvml import binding

CHANGING = (
    "nvmlDeviceSetMigMode", "nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceDestroy",
    "nvmlGpuInstanceCreateComputeInstanceWithPlacement", "nvmlComputeInstanceDestroy",
)  # fmt: skip
UNKNOWN, NOT_SUPPORTED = 999, 3


class Faulty(binding.Binding):
    """The binding, but for the calls that are to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._counted(found) if name in CHANGING else found

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return self._counted(found) if name in CHANGING else found

    def nvmlDeviceGetGpuInstanceProfileInfo(self, handle: Any, kind: int) -> Any:  # noqa: N802 - of the driver
        if IS_SILENT and not self.nvmlDeviceGetMigMode(handle)[0]:
            raise self._error(NOT_SUPPORTED)
        return super().nvmlDeviceGetGpuInstanceProfileInfo(handle, kind)

    def _error(self, code: int) -> Exception:
        errors = self.NVMLError
        made: Exception = (errors[0] if isinstance(errors, tuple) else errors)(code)
        return made

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            number, self.calls = self.calls, self.calls + 1
            if number in FAILING:
                raise self._error(UNKNOWN)
            return function(*args)

        return call


IS_SILENT = sys.argv[1] == "silent"
FAILING = frozenset() if IS_SILENT else frozenset(int(word) for word in sys.argv[1].split(","))
binding.Binding = Faulty  # type: ignore[misc]
main(sys.argv[2:])
