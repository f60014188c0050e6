"""The program that tests one device: a plan on stdin, events on stdout, the end when stdin ends."""

import ctypes
import gc
import os
import signal
import time
from contextlib import suppress
from typing import Any, Final

from gputop_cuda_probe.faults import Faults, read_faults
from gputop_cuda_probe.lines import VERSION, Lines, Stop, heart, read_plan

_PR_SET_PDEATHSIG: Final = 1


def main() -> None:
    """Run the tests of the plan. The process ends without waiting for what a sick device still holds."""
    _die_with_parent()
    plan = read_plan()
    lines = Lines()
    if plan.get("v") != VERSION:
        lines.send("error", id="", type="ProtocolError", code=0, text=f"this worker speaks version {VERSION}")
        os._exit(3)
    status = _Worker(plan, lines).run()
    os._exit(status)


def _die_with_parent() -> None:
    """Have the kernel end this process when its parent is gone, whatever it is doing then."""
    parent = os.getppid()
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


class _Worker:
    """Runs a plan."""

    def __init__(self, plan: dict[str, Any], lines: Lines) -> None:
        self._plan = plan
        self._lines = lines
        self._count = [0]
        self._stop = Stop()
        self._kept: Any = None  # its module imports torch

    def run(self) -> int:
        """Run all tests in turn; return the exit status."""
        self._stop.listen()
        heart(self._lines, self._count)
        try:
            faults = read_faults()
            self._import()
            device = self._meet()
        except Exception as error:  # noqa: BLE001 - this is the border: whatever is wrong with torch or the device
            self._tell_error("", error)
            return 3
        if device is None:
            return 3
        self._prepare(device, faults)
        for row in self._plan["tests"]:
            if self._stop.is_set() or not self._run_one(row, device, faults):
                break
        self._lines.send("summary", status="aborted" if self._stop.is_set() else "done")
        return 0

    def _import(self) -> None:
        begun_s = time.perf_counter()
        import torch  # noqa: PLC0415 - after stdout was put aside, and timed

        from gputop_cuda_probe.context import note_import  # noqa: PLC0415

        note_import(time.perf_counter() - begun_s)
        gc.freeze()  # half a second a test to look through torch's own objects
        threads = self._plan.get("threads")
        if threads:
            torch.set_num_threads(int(threads))

    def _meet(self) -> Any:  # noqa: ANN401 - its module imports torch
        """Report the device under test. Return None if it is not the one that the plan names."""
        import torch  # noqa: PLC0415

        from gputop_cuda_probe.turn import Device  # noqa: PLC0415

        plan = self._plan
        device = Device(plan["device"], int(plan.get("index", 0)), float(plan.get("memory", 0.9)), plan.get("budget"))
        device.count = int(plan.get("count", 1))
        device.numbers = tuple(plan.get("numbers", ()))
        _bind(plan.get("cpus"))
        about: dict[str, Any] = {"torch": torch.__version__, "cuda": torch.version.cuda or "", "pid": os.getpid()}
        if device.is_cpu:
            self._lines.send("hello", name="CPU", uuid=plan.get("uuid", ""), total=0, sm=0, **about)
            return device
        if not torch.cuda.is_available():
            raise RuntimeError("torch sees no CUDA device here: a build for CPUs, or a driver that is too old for it")
        seen = torch.cuda.get_device_properties(0)
        uuid = f"GPU-{seen.uuid}" if hasattr(seen, "uuid") else ""
        self._lines.send(
            "hello", name=seen.name, uuid=uuid, total=seen.total_memory, sm=seen.multi_processor_count, **about
        )
        wanted = str(plan.get("uuid", ""))
        if uuid and wanted.startswith("GPU-") and uuid != wanted:
            self._lines.send("error", id="", type="WrongDevice", code=0, text=f"wanted {wanted}, got {uuid}")
            return None
        return device

    def _prepare(self, device: Any, faults: tuple[Any, ...]) -> None:  # noqa: ANN401
        """Make ready what lives longer than a test."""
        from gputop_cuda_probe import kept  # noqa: PLC0415

        if any(row["id"] == kept.TEST for row in self._plan["tests"]):
            self._kept = kept.Kept(device, self._lines, faults, int(self._plan.get("seed", 1)))

    def _run_one(self, row: dict[str, Any], device: Any, faults: tuple[Any, ...]) -> bool:  # noqa: ANN401
        """Run a test; return whether others may follow."""
        from gputop_cuda_probe.table import RUN  # noqa: PLC0415
        from gputop_cuda_probe.turn import SkippedError, StoppedError, Turn  # noqa: PLC0415

        test = row["id"]
        turn = Turn(test, device, self._lines, Faults(faults, test, device.index))
        turn.seconds, turn.seed = float(row["seconds"]), int(self._plan.get("seed", 1))
        turn.is_named = bool(row.get("named"))
        turn.count, turn.stop = self._count, self._stop
        self._lines.send("start", id=test, params={})
        turn.begin()
        reason, status = "", ""
        try:
            if self._kept is not None and test == self._kept.TEST:
                self._kept.run(turn)
                self._kept = None
            else:
                RUN[test](turn)
                self._look(test)
        except SkippedError as error:
            reason, status = str(error), "skip"
        except StoppedError:
            reason, status = "stopped", "aborted"
        except Exception as error:  # noqa: BLE001 - this is the border: whatever a sick device makes of a test
            self._tell_error(test, error)
            reason, status = str(error).partition("\n")[0], "error"
        for severity in ("inconclusive", "warn", "fail"):
            if severity in turn.statuses:
                status = severity
        taken_s = round(turn.elapsed_s, 3)
        if status != "error":
            gc.collect()
            device.clear()
        self._lines.send("end", id=test, status=status or "pass", dur_s=taken_s, reason=reason)
        return status not in ("error", "aborted") or not _is_sticky(reason)

    def _look(self, test: str) -> None:
        """Read the block that is kept. What goes wrong with the device there is the test's that was just made."""
        from gputop_cuda_probe.turn import SkippedError  # noqa: PLC0415

        if self._kept is not None:
            with suppress(SkippedError):  # there is no memory for it: its own turn will say so
                self._kept.look(test)

    def _tell_error(self, test: str, error: Exception) -> None:
        self._lines.send("error", id=test, type=type(error).__name__, code=_code(error), text=str(error)[:4000])


def _bind(cpus: "list[int] | None") -> None:
    """Stay on the CPUs that are next to the GPU, as far as they are ours: others make copies slower."""
    ours = os.sched_getaffinity(0) & set(cpus or ())
    if ours:
        os.sched_setaffinity(0, ours)


def _code(error: Exception) -> int:
    """Return the number of a CUDA error where the text names one."""
    text = str(error).lower()
    return next((code for words, code in _CODES.items() if words in text), 0) if "cuda" in text else 0


_CODES: Final = {  # cudaGetErrorString, driver_types.h
    "out of memory": 2,
    "uncorrectable ecc": 214,
    "uncorrectable nvlink": 220,
    "illegal memory access": 700,
    "launch timed out": 702,
    "hardware stack error": 714,
    "illegal instruction": 715,
    "misaligned address": 716,
    "unspecified launch failure": 719,
    "contained": 721,
    "system not yet initialized": 802,
    "driver/library version mismatch": 803,
    "forward compatibility": 804,
    "unknown error": 999,
}


def _is_sticky(reason: str) -> bool:
    """Return whether this process can do nothing more with the device."""
    text = reason.lower()
    return "cuda error" in text and "out of memory" not in text


if __name__ == "__main__":
    main()
