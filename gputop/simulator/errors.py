"""The error of the simulated driver, and those of NVML's return codes that it answers with."""

from typing import Final

UNINITIALIZED: Final = 1
INVALID_ARGUMENT: Final = 2
NOT_SUPPORTED: Final = 3
NOT_FOUND: Final = 6
TIMEOUT: Final = 10
FUNCTION_NOT_FOUND: Final = 13
GPU_IS_LOST: Final = 15
RESET_REQUIRED: Final = 16
IN_USE: Final = 19
INSUFFICIENT_RESOURCES: Final = 23


class NVMLError(Exception):
    """An NVML return code, named as pynvml names it."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value
