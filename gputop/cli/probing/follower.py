"""Tells a program, the screen above all, how a probe goes: lines of JSON on stdout. The end of stdin means: stop."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

from gputop.cli.probing.targets import Target
from gputop.core.probing.progress import Course, DeviceCourse, Ended, shortened
from gputop.core.probing.result import DeviceResult, ProbeReport
from gputop.machine.probe.runner import Job
from gputop.report.probe import Stand
from gputop.wire.encoder import encode

_EVERY_S: Final = 0.25


class Follower:
    """Writes lines, in a thread of its own: a reader that is stopped for a while must not hold up the probe.

    What nobody has read yet is replaced by what is newer; the end is always written.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._devices: dict[str, DeviceCourse] = {}
        self._told_s = 0.0
        self._gate = threading.Condition()
        self._waiting: Course | Ended | None = None
        self._writer = threading.Thread(target=self._run, name="follower", daemon=True)
        self._writer.start()

    def begin(self, targets: Sequence[Target], refused: Sequence[DeviceResult]) -> None:
        """Say which devices there are, and which are not tested."""
        for target in targets:
            self._devices[target.label] = DeviceCourse(
                label=target.label, uuid=target.uuid, gpu=target.gpu, name=target.name
            )
        for one in refused:
            held = self._devices[one.label]
            self._devices[one.label] = DeviceCourse(
                label=held.label, uuid=held.uuid, gpu=held.gpu, name=held.name, status=one.status, reason=one.reason,
                is_over=True,
            )  # fmt: skip
        self._write()

    def tell(self, jobs: Sequence[Job], stands: Mapping[str, Stand]) -> None:
        """Say how far the workers are, now and then and when one ends."""
        now = time.monotonic()
        is_over = all(job.is_over for job in jobs)
        if now - self._told_s < _EVERY_S and not is_over:
            return
        self._told_s = now
        for job in jobs:
            label = job.task.label
            self._devices[label] = _course(job, stands[label], self._devices.get(label, DeviceCourse(label=label)))
        self._write()

    def end(self, report: ProbeReport) -> None:
        """Say what was found, and wait until that is written."""
        self._put(Ended(report=report))
        self._writer.join()

    def _write(self) -> None:
        self._put(Course(devices=tuple(self._devices.values())))

    def _put(self, news: Course | Ended) -> None:
        with self._gate:
            self._waiting = news
            self._gate.notify()

    def _run(self) -> None:
        news: Course | Ended | None = None
        while not isinstance(news, Ended):
            with self._gate:
                while self._waiting is None:
                    self._gate.wait()
                news, self._waiting = self._waiting, None
            try:
                self._out.write(encode(news))
                self._out.flush()
            except OSError:
                return  # nobody reads any more: stdin has ended as well, which stops the probe


def _course(job: Job, stand: Stand, held: DeviceCourse) -> DeviceCourse:
    record = job.record
    done = tuple(shortened(test) for test in record.results() if test.key != record.current)
    return DeviceCourse(
        label=held.label, uuid=held.uuid, gpu=held.gpu, wanted=record.wanted, tests=done, current=record.current,
        name=record.hello.name if record.hello is not None and record.hello.name else held.name, done=stand.done,
        test_done=record.done, left_s=stand.left_s, text=record.text, is_over=job.is_over,
        is_waiting=job.is_waiting,
    )  # fmt: skip


def stop_with_stdin() -> None:
    """Interrupt the main thread when stdin ends, from a thread of its own."""

    def listen() -> None:
        import _thread

        while os.read(0, 4096):
            pass
        _thread.interrupt_main()

    threading.Thread(target=listen, name="control", daemon=True).start()
