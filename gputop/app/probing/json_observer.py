"""Progress as lines of JSON, for a program such as the screen."""

import threading
import time
from collections.abc import Sequence
from typing import BinaryIO, Final

from msgspec.structs import replace

from gputop.app.probing.devices import Device
from gputop.core.probing.progress import Course, DeviceCourse, Ended, shortened
from gputop.core.probing.result import DeviceResult, ProbeReport
from gputop.machine.probe.runner import WorkerJob
from gputop.report.probe import DeviceProgress
from gputop.wire.encoder import encode

_EVERY_S: Final = 0.25


class JsonObserver:
    """A writer of lines in a thread of its own: a reader that pauses must not delay the probe.

    A newer line replaces one that is still unread; the last line is always written.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._devices: dict[str, DeviceCourse] = {}
        self._written_s = 0.0
        self._gate = threading.Condition()
        self._waiting: Course | Ended | None = None
        self._writer = threading.Thread(target=self._run, name="json-observer", daemon=True)
        self._writer.start()

    def begin(self, devices: Sequence[Device], refused: Sequence[DeviceResult]) -> None:
        """Write all devices, and which of them are not tested."""
        for device in devices:
            self._devices[device.label] = DeviceCourse(
                label=device.label, uuid=device.uuid, gpu=device.gpu, name=device.name
            )
        for one in refused:
            held = self._devices[one.label]
            self._devices[one.label] = replace(held, status=one.status, reason=one.reason, is_over=True)
        self._put(self._course())

    def update(self, jobs: Sequence[WorkerJob], progress: Sequence[DeviceProgress]) -> None:
        """Write the progress, a few times a second and when the last job ends."""
        now = time.monotonic()
        if now - self._written_s < _EVERY_S and not all(job.is_over for job in jobs):
            return
        self._written_s = now
        for job, one in zip(jobs, progress, strict=True):
            held = self._devices.get(one.label, DeviceCourse(label=one.label))
            self._devices[one.label] = _device(job, one, held)
        self._put(self._course())

    def end(self, report: ProbeReport) -> None:
        """Write the report, and wait until it is written."""
        self._put(Ended(report=report))
        self._writer.join()

    def _course(self) -> Course:
        return Course(devices=tuple(self._devices.values()))

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
                return  # the reader exited: stdin has ended too, which stops the probe


def _device(job: WorkerJob, progress: DeviceProgress, held: DeviceCourse) -> DeviceCourse:
    record = job.record
    done = tuple(shortened(test) for test in record.results() if test.key != record.current)
    return replace(
        held, wanted=record.wanted, tests=done, current=record.current, done=progress.done, test_done=record.done,
        name=record.hello.name if record.hello is not None and record.hello.name else held.name,
        left_s=progress.left_s, text=record.text, is_over=job.is_over, is_waiting=job.is_waiting,
    )  # fmt: skip
