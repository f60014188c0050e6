"""Tapes for tests: of a simulated box on a clock of its own, or of frames made by hand."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import DEFLATED, MAX_WBITS, compressobj, crc32

from simulated import WALL_S, Time, box

from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator.procfiles import HERTZ, PAGE
from gputop.wire.tape.layout import TRAILER, Place, head
from gputop.wire.tape.reader import Tape, open_tape
from gputop.wire.tape.writer import TapeWriter


class Sink:
    """A file that takes so many bytes and is full then; in pieces, as a disk may."""

    def __init__(self, room: int = 10**9, most: int = 10**9) -> None:
        self.raw = bytearray()
        self._room, self._most = room, most

    def write(self, raw: memoryview) -> int:
        taken = min(len(raw), self._most, self._room - len(self.raw))
        if not taken:
            raise OSError(28, "No space left on device")
        self.raw += raw[:taken]
        return taken

    def close(self) -> None:
        pass


class Metronome:
    """A clock that moves on by a step whenever it is read."""

    def __init__(self, step_s: float = 1.0) -> None:
        self.now, self._step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now += self._step_s
        return self.now - self._step_s


def simulated(count: int, name: str = "training", step_s: float = 1.0) -> Iterator[Frame]:
    """Return frames of a simulated box; the same ones at every run."""
    time = Time()
    made = box(name, time)
    source = MachineSource(
        Driver(made.driver),
        HostReader(made.proc, made.host),
        ProcessReader(made.proc, made.users.get, clock_ticks=HERTZ, page_bytes=PAGE),
        limits=Limits(patience_s=30.0),
        simulated=name,
        watches_events=False,
        clock=lambda: time.now,
        wall=lambda: WALL_S + time.now - 5000.0,
    )
    source.open()
    step = Monitor(source).step
    for _ in range(count):
        yield step()
        time.now += step_s


def taped(frames: Iterable[Frame], step_s: float = 1.0) -> bytes:
    """Return a tape of these frames."""
    sink = Sink()
    writer = TapeWriter(sink, Metronome(step_s))
    for frame in frames:
        writer.write(frame)
    writer.close()
    return bytes(sink.raw)


def opened(raw: bytes, folder: Path) -> Tape:
    """Return the tape in these bytes, which can be played."""
    file = folder / "a.tape"
    file.write_bytes(raw)
    tape = open_tape(str(file))
    assert isinstance(tape, Tape), tape
    return tape


def packed(text: bytes, number: int = 0) -> bytes:
    """Return a part of a recording with this text below its head."""
    press = compressobj(9, DEFLATED, -MAX_WBITS, 9)
    body = press.compress(text) + press.flush()
    return head(Place(float(number), number, WALL_S)) + body + TRAILER.pack(crc32(text), len(text) & 0xFFFFFFFF)
