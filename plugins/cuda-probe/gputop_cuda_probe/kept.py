"""One block that is written at the start and read after every test: what other work must not change, or time."""

from typing import Any, Final

from gputop_cuda_probe.faults import Fault, Faults
from gputop_cuda_probe.lines import Lines
from gputop_cuda_probe.memory import Filled
from gputop_cuda_probe.noise import Noise
from gputop_cuda_probe.turn import Device, Turn

TEST: Final = "memory.kept"
_GPU_BYTES: Final = 1 << 30
_CPU_BYTES: Final = 4 << 20
_LEAST_READS: Final = 2


class Kept:
    """The block of a worker. Errors are reported in its own turn, because one test runs at a time."""

    TEST: Final = TEST

    def __init__(self, device: Device, lines: Lines, faults: tuple[Fault, ...], seed: int) -> None:
        self._notes = _Notes(TEST, device, lines, Faults(faults, TEST, device.index))
        self._notes.seed = seed
        self._noise: Noise | None = None
        self._filled: Filled | None = None
        self._reads = 0

    def look(self, test: str) -> None:
        """Read it after a test; the first time, write it: the device is in use from then on."""
        if self._noise is None or self._filled is None:
            self._filled = Filled(self._notes, _CPU_BYTES if self._notes.device.is_cpu else _GPU_BYTES)
            self._noise = Noise(self._filled, self._notes.seed)
            self._noise.write()
        else:
            self._noise.fade()
        self._filled.what = f"written at the start, read after {test}"
        self._noise.verify()
        self._reads += 1

    def run(self, turn: Turn) -> None:
        """Read it until the time is over, and report all errors since the start."""
        while self._reads < _LEAST_READS or not turn.is_due():
            turn.faults.strike()
            self.look("a while")
            turn.tick(text=f"read {self._reads} times")
        if self._filled is not None:
            self._filled.report()
            turn.param(block_bytes=self._filled.bytes, reads=self._reads, seed=turn.seed)
        for code, severity, text, data in self._notes.held:
            turn.finding(code, severity, text, **data)
        self._filled = self._noise = None


class _Notes(Turn):
    """A turn that keeps what is found."""

    def __init__(self, test: str, device: Device, lines: Lines, faults: Faults) -> None:
        super().__init__(test, device, lines, faults)
        self.held: list[tuple[str, str, str, dict[str, Any]]] = []

    def tick(self, done: float | None = None, text: str = "", rate: tuple[float, str] | None = None) -> None:
        """Go on."""

    def param(self, **values: Any) -> None:  # noqa: ANN401 - as its parent
        """Drop it."""

    def finding(self, code: str, severity: str, text: str, **data: Any) -> None:  # noqa: ANN401 - as its parent
        """Keep it."""
        self.held.append((code, severity, text, data))
