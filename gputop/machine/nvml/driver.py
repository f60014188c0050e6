"""The border to the driver: a question is answered by a value or by the reason why there is none; nothing is raised.

`Driver` talks to functions of pynvml's names: those of `binding.py` on a real box, or a simulated driver's.
"""

from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.core.text.text import clean
from gputop.machine.nvml import codes

Handle = Any  # what the driver knows a device by; only ever handed back to it


# nvmlReturn_t of nvml.h; codes that are not here are a FAULT of this one reading
_REASONS: Final = {
    3: Missing.UNSUPPORTED,
    4: Missing.FORBIDDEN,
    13: Missing.OUTDATED,  # the library does not have this function
    15: Missing.LOST,
    16: Missing.LOST,  # reset required: nothing can be read until then
    17: Missing.FORBIDDEN,  # the operating system or a cgroup blocks the device
    21: Missing.NOT_YET,
    25: Missing.OUTDATED,  # the library does not know this version of the structure
    26: Missing.OUTDATED,  # deprecated and gone
    27: Missing.NOT_YET,
}
LASTING: Final = frozenset({Missing.UNSUPPORTED, Missing.FORBIDDEN, Missing.OUTDATED})  # no use in asking again


class NoDriverError(Exception):
    """There is no driver to talk to. The text says what is missing and what to do; ``code``: nvmlReturn_t."""

    def __init__(self, text: str, code: int = 999) -> None:
        super().__init__(text)
        self.code = code


class RefusedError(Exception):
    """That the driver refused to do something; ``code``: of nvmlReturn_t."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name}: NVML error {code}")
        self.name = name
        self.code = code


def reason(code: int) -> Missing:
    """Return what an NVML return code means for a value."""
    return _REASONS.get(code, Missing.FAULT)


def text_of(answer: object) -> str:
    """Return a text of the driver, cleaned; empty for a `Missing`."""
    if isinstance(answer, bytes):
        return clean(answer.decode("ascii", "replace"))
    return clean(answer) if isinstance(answer, str) and not isinstance(answer, Missing) else ""


class Driver:
    """Asks a driver."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def ask(self, name: str, *args: Any) -> Any:
        """Return the answer of the function ``name``, or a `Missing`. Never raises for what the driver does."""
        try:
            return self.tell(name, *args)
        except RefusedError as error:
            return reason(error.code)
        except (ValueError, MemoryError):
            return Missing.FAULT  # a lost board answers garbage: text that is none, sizes that nobody has

    def tell(self, name: str, *args: Any) -> Any:
        """Have the function ``name`` change something, and return its answer. Raises `RefusedError`."""
        function = getattr(self._functions, name, None)
        if function is None:  # the installed binding does not have it
            raise RefusedError(name, codes.FUNCTION_NOT_FOUND)
        try:
            return function(*args)
        except self._functions.NVMLError as error:
            raise RefusedError(name, _code(error)) from None

    def start(self) -> None:
        """Initialise the driver library. May take seconds, or for ever on a sick box.

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
