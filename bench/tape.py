"""Measurements of recordings on simulated boxes: size, and the CPU time to write, read and judge a frame.

python bench/tape.py [--frames 600]
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from math import nan
from random import Random
from typing import Final

from msgspec.structs import replace

from gputop.app.monitoring.judging import judge
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.lazy_imports import collect_seldom
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator.boxes import training
from gputop.simulator.boxes.parts import ANN, BOB, CHEN, DORA, GIB, docker, gib, threads
from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import Curve, Ramp, Wave
from gputop.simulator.driver import Driver as SimulatedDriver
from gputop.simulator.load import IDLE, embedding, evaluation, serving
from gputop.simulator.plan import BoxPlan, ProcessPlan, Use
from gputop.simulator.proc import SimulatedProc
from gputop.simulator.procfiles import HERTZ, PAGE
from gputop.wire.tape.reader import Tape, open_tape
from gputop.wire.tape.writer import TapeWriter

MIB: Final = 2**20
CROWDS: Final = {"training": 0, "60 processes on GPUs": 49, "100 processes on GPUs": 89}


def main() -> None:
    """Measure each box and print a row of it."""
    parser = argparse.ArgumentParser(description="Measure recordings.")
    parser.add_argument("--frames", type=int, default=600)
    count = parser.parse_args().frames
    collect_seldom()
    print("| 8 GPUs | MiB an hour | write ms | read ms | judge ms | times real time |\n|---|---|---|---|---|---|")
    for name, more in CROWDS.items():
        size, write_ms, read_ms, judge_ms = measured(list(frames(crowd(more), count)))
        times = 1000 / (read_ms + judge_ms)
        print(f"| {name} | {size:.1f} | {write_ms:.1f} | {read_ms:.2f} | {judge_ms:.2f} | {times:.0f} |", flush=True)


def measured(taken: list[Frame]) -> tuple[float, float, float, float]:
    """Return MiB per hour at a frame a second, and milliseconds per frame to write, read and judge."""
    with tempfile.NamedTemporaryFile(suffix=".tape", buffering=0) as file:
        seconds = iter(range(len(taken)))
        writer = TapeWriter(file, lambda: float(next(seconds)))
        write_ms = spent_ms(lambda: any(map(writer.write, taken))) / len(taken)
        writer.close()
        tape = open_tape(file.name)
        if not isinstance(tape, Tape):
            return nan, nan, nan, nan
        read_ms = spent_ms(lambda: sum(1 for _ in tape.play())) / len(taken)
        judge_, played = judge(is_once=False), [moment.frame for moment in tape.play()]
        judge_ms = spent_ms(lambda: [judge_.judge(frame, frame.jobs) for frame in played]) / len(taken)
    return writer.bytes / len(taken) * 3600 / MIB, write_ms, read_ms, judge_ms


def spent_ms(work: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    began_s = time.process_time()
    work()
    return (time.process_time() - began_s) * 1000


def crowd(count: int) -> BoxPlan:
    """Return the training box with this many more processes on its GPUs, three in four of them at work."""
    base = training.plan()
    return replace(base, processes=(*base.processes, *(_one(number) for number in range(count))))


def _one(number: int) -> ProcessPlan:
    random = Random(number)  # noqa: S311 - the same crowd each time
    kind = number % 4
    activity = (embedding(4.0, number), evaluation(8.0, number), serving(3.0, number), IDLE)[kind]
    held = Curve(1.2 * GIB, (Ramp(0.6 * GIB, 2880.0 + number),)) if kind == 1 else gib(1.5)
    return ProcessPlan(
        pid=70_000 + number * 3, uid=random.choice((ANN, BOB, CHEN, DORA)), age_s=random.uniform(100, 90_000),
        command=("python3", "-m", "infer", "--name", f"run-{random.getrandbits(40):x}"), name="python3",
        cgroup=docker(f"c{number}"),
        memory=Curve(random.uniform(1, 9) * GIB, (Wave(0.01 * GIB, 31.0 + number),) if kind < 3 else ()),
        threads=threads(random.uniform(0.05, 0.95) if kind < 3 else 0.003, seed=number, idle=20),
        uses=(Use(gpu=number % 8, activity=activity, memory=held),),
    )  # fmt: skip


def frames(plan: BoxPlan, count: int) -> Iterator[Frame]:
    """Return frames of a box, one a second of a clock of its own."""
    now = [5000.0]
    clock = BoxClock(plan.uptime_s, lambda: now[0], lambda: 1_800_000_000.0, lambda _: None)
    proc = SimulatedProc(plan, clock)
    source = MachineSource(
        Driver(SimulatedDriver("training", plan, clock)),
        HostReader(proc, plan.host),
        ProcessReader(proc, plan.users.get, clock_ticks=HERTZ, page_bytes=PAGE),
        limits=Limits(patience_s=30.0),
        simulated="training",
        watches_events=False,
        clock=lambda: now[0],
        wall=lambda: 1_800_000_000.0 + now[0] - 5000.0,
    )
    source.open()
    step = Monitor(source).step
    for _ in range(count):
        yield step()
        now[0] += 1.0


if __name__ == "__main__":
    main()
