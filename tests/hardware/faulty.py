"""gputop with a driver whose changing calls fail: the first argument has their numbers, counted from 0, with commas.

It takes the place of `python -m gputop` in tests; the rest of the arguments are gputop's own.
"""

import sys
from collections.abc import Callable
from typing import Any

from gputop.cli import main
from gputop.machine import binding

CHANGING = (
    "nvmlDeviceSetMigMode", "nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceDestroy",
    "nvmlGpuInstanceCreateComputeInstanceWithPlacement", "nvmlComputeInstanceDestroy",
)  # fmt: skip
UNKNOWN = 999


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

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            number, self.calls = self.calls, self.calls + 1
            if number in FAILING:
                errors = self.NVMLError
                raise (errors[0] if isinstance(errors, tuple) else errors)(UNKNOWN)
            return function(*args)

        return call


FAILING = frozenset(int(word) for word in sys.argv[1].split(","))
binding.Binding = Faulty  # type: ignore[misc]
main(sys.argv[2:])
