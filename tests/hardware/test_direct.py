"""The plain functions answer what nvidia-ml-py's do, on the driver that is there."""

import subprocess
import sys
from typing import Any

import pytest

from gputop.app.errors import NO_DRIVER
from gputop.machine.nvml.binding import Binding
from gputop.machine.nvml.library import PLAIN

pynvml = pytest.importorskip("pynvml")

ARGUMENTS: dict[str, tuple[int, ...]] = {
    "nvmlDeviceGetTemperature": (0,),
    "nvmlDeviceGetTemperatureThreshold": (1,),
    "nvmlDeviceGetClockInfo": (1,),
    "nvmlDeviceGetMaxClockInfo": (1,),
    "nvmlDeviceGetTotalEccErrors": (0, 1),
    "nvmlDeviceGetNvLinkState": (0,),
    "nvmlDeviceGetMigDeviceHandleByIndex": (0,),
}
MOVING = {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTemperature"}
HANDLES = {
    "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlEventSetCreate", "nvmlGpmSampleAlloc",
}  # fmt: skip
OF_THE_BOX = {"nvmlDeviceGetCount", "nvmlEventSetCreate", "nvmlGpmSampleAlloc"}


def shown(answer: Any) -> Any:
    """Return an answer as a plain value."""
    if hasattr(answer, "_fields_"):
        values = [getattr(answer, name) for name, *_ in answer._fields_]
        return [value.decode() if isinstance(value, bytes) else value for value in values]
    return list(answer) if isinstance(answer, (list, tuple)) else answer


def asked(functions: Any, name: str, handle: Any) -> Any:
    """Return what a function answers, or its error's code."""
    given = () if name in OF_THE_BOX or "System" in name else (handle, *ARGUMENTS.get(name, ()))
    given = (0,) if name == "nvmlDeviceGetHandleByIndex" else given
    try:
        return shown(getattr(functions, name)(*given))
    except functions.NVMLError as error:
        return f"error {error.value}"


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_plain_function_answers_as_nvidia_ml_py_does(name: str) -> None:
    ours = Binding()
    ours.nvmlInit()
    pynvml.nvmlInit()

    answer = asked(ours, name, ours.nvmlDeviceGetHandleByIndex(0))
    theirs = asked(pynvml, name, pynvml.nvmlDeviceGetHandleByIndex(0))

    if name in HANDLES or name in MOVING:
        assert type(answer) is str if isinstance(theirs, str) else answer is not None
    else:
        assert answer == theirs


def test_a_snapshot_does_not_import_nvidia_ml_py() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gputop", "snapshot", "--json", "--wait", "0"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    if done.returncode == NO_DRIVER:
        pytest.skip("there is no driver")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "_ctypes" in loaded
    assert "string" not in loaded, (
        "nvidia-ml-py alone imports it: a metric asks a function that machine/nvml/library.py does not have"
    )
