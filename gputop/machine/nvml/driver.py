"""The border to the driver: a call returns a value or the reason why there is none, and never raises.

`Driver` calls functions with pynvml's names: those of `binding.py` on a real machine, or a simulated driver's.
"""

from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.core.text.text import clean
from gputop.machine.nvml import codes

Handle = Any  # the driver's reference to a device; gputop only passes it back


# nvmlReturn_t of nvml.h; a code that is not listed is a FAULT of this one reading
_REASONS: Final = {
    3: Missing.UNSUPPORTED,
    4: Missing.FORBIDDEN,
    13: Missing.OUTDATED,  # the library lacks this function
    15: Missing.LOST,
    16: Missing.LOST,  # reset required: nothing can be read until then
    17: Missing.FORBIDDEN,  # the operating system or a cgroup blocks the device
    21: Missing.NOT_YET,
    25: Missing.OUTDATED,  # the library does not know this version of the structure
    26: Missing.OUTDATED,  # deprecated and removed
    27: Missing.NOT_YET,
}
LASTING: Final = frozenset({Missing.UNSUPPORTED, Missing.FORBIDDEN, Missing.OUTDATED})  # do not ask again


class NoDriverError(Exception):
    """No driver can be used. The text says what is missing and what to do; ``code``: nvmlReturn_t."""

    def __init__(self, text: str, code: int = 999) -> None:
        super().__init__(text)
        self.code = code


class RefusedError(Exception):
    """The driver refused a change; ``code``: nvmlReturn_t."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name}: NVML error {code}")
        self.name = name
        self.code = code


def reason(code: int) -> Missing:
    """Return the reason that an NVML return code means."""
    return _REASONS.get(code, Missing.FAULT)


def text_of(answer: object) -> str:
    """Return a text of the driver, cleaned; empty for a `Missing`."""
    if isinstance(answer, bytes):
        return clean(answer.decode("ascii", "replace"))
    return clean(answer) if isinstance(answer, str) and not isinstance(answer, Missing) else ""


class Driver:
    """Calls the driver."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def ask(self, name: str, *args: Any) -> Any:
        """Return the answer of the function ``name``, or a `Missing`. Never raises for a driver error."""
        function = getattr(self._functions, name, None)
        if function is None:  # the installed binding does not have it
            return Missing.OUTDATED
        try:
            return function(*args)
        except self._functions.NVMLError as error:
            return reason(_code(error))
        except (ValueError, MemoryError):
            return Missing.FAULT  # a lost board returns garbage: invalid text, impossible sizes

    def call(self, name: str, *args: Any) -> Any:
        """Call the function ``name`` and return its answer. Raises `RefusedError`."""
        function = getattr(self._functions, name, None)
        if function is None:
            raise RefusedError(name, codes.FUNCTION_NOT_FOUND)
        try:
            return function(*args)
        except self._functions.NVMLError as error:
            raise RefusedError(name, _code(error)) from None

    def start(self) -> None:
        """Initialise the driver library. May take seconds, or for ever on a faulty machine.

        Raises `NoDriverError` with the remedy. There is no counterpart: the library must not be shut down while a
        thread may be inside it, and the kernel cleans up anyway.
        """
        try:
            self._functions.nvmlInit()
        except self._functions.NVMLError as error:
            raise NoDriverError(_no_driver(_code(error)), _code(error)) from None


def _code(error: Exception) -> int:
    return int(getattr(error, "value", 999))


def _no_driver(code: int) -> str:
    if code == codes.LIBRARY_NOT_FOUND:
        return (
            "no NVIDIA driver here: libnvidia-ml.so.1 was not found. "
            "In a container, pass the GPUs in (docker run --gpus all)."
        )
    if code == codes.DRIVER_NOT_LOADED:
        return "the NVIDIA driver is installed but not loaded. Try: sudo modprobe nvidia; then: sudo dmesg | tail."
    if code == codes.LIBRARY_MISMATCH:
        return (
            "the NVIDIA driver was updated, but the old one is still loaded. "
            "Reboot, or reload the nvidia kernel modules."
        )
    return (
        f"the NVIDIA driver refuses to start ({reason(code).value}, NVML error {code}). "
        "Try: nvidia-smi; sudo dmesg | tail."
    )
