"""The workers of a run from start to end, with the readings of the driver and the safety rules."""

import os
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.errors import NO_DRIVER, UseCaseError
from gputop.app.probing.devices import Device, Devices
from gputop.app.probing.driver_watch import DriverWatch
from gputop.app.probing.guard import Guard
from gputop.app.probing.progress import Observer, RunProgress
from gputop.app.probing.request import ProbeRequest
from gputop.app.probing.workers import Workers
from gputop.core.probing.plan import timed
from gputop.core.probing.probe import ProbeTest
from gputop.core.probing.result import DeviceResult, TestResult
from gputop.machine.probe.python import candidates, with_package
from gputop.machine.probe.runner import WorkerJob


class Found(Struct, frozen=True, kw_only=True):
    """The results of the workers. ``links``: PCIe links under load; ``newcomers``: new processes by device."""

    devices: tuple[DeviceResult, ...] = ()
    joint: tuple[TestResult, ...] = ()
    links: Mapping[str, tuple[int | None, int | None]] = {}
    newcomers: Mapping[str, tuple[str, ...]] = {}


def execute(
    request: ProbeRequest, tests: Sequence[ProbeTest], devices: Devices, tested: Sequence[Device], observer: Observer
) -> Found:
    """Run the workers of single devices, then those over all devices."""
    if devices.is_simulated:
        raise UseCaseError(NO_DRIVER, "a simulated GPU cannot be tested. To try the tests: gputop probe --device cpu")
    python = _python(request)
    seconds = timed(tests, request.level, request.time_s, len(tested) if request.is_serial else 1)
    guard, driver = _guarded(request, devices, tested)
    with TemporaryDirectory(prefix="gputop-probe-", ignore_cleanup_errors=True) as folder:
        workers = Workers(
            request=request, python=python, seconds=seconds, folder=folder, devices=tested,
            update=RunProgress(driver, seconds, observer).update,
            near_cpus={device.uuid: devices.near_cpus(device) for device in tested},
        )  # fmt: skip
        jobs = workers.single([test for test in tests if not (test.is_joint or test.sees_all)])
        done = [result for job in jobs for result in job.record.results()]
        joint = workers.over_all([test for test in tests if test.sees_all], done)
        joint += workers.joint([test for test in tests if test.is_joint], [*done, *joint])
    results = tuple(_result(devices.untested(device), job) for device, job in zip(tested, jobs, strict=False))
    if guard is None or driver is None:
        return Found(devices=results, joint=joint)
    driver.finish()
    return Found(
        devices=tuple(map(driver.completed, results)), joint=joint, links=driver.links(), newcomers=guard.newcomers
    )


def _guarded(
    request: ProbeRequest, devices: Devices, tested: Sequence[Device]
) -> tuple[Guard, DriverWatch] | tuple[None, None]:
    """Return the safety rules and the readings of a run on GPUs; CPUs have neither."""
    if devices.source is None or devices.sample is None:
        return None, None
    guard = Guard(devices.sample, tested, request.ceiling, gives_way=not request.is_forced)
    return guard, DriverWatch(devices.source, devices.sample, tested, guard)


def _result(device: DeviceResult, job: WorkerJob) -> DeviceResult:
    hello = job.record.hello
    if hello is not None:
        device = replace(
            device, name=hello.name or device.name, torch=hello.torch, cuda=hello.cuda, total_bytes=hello.total
        )
    return replace(device, tests=job.record.results(), last_words=job.last_words)


def _python(request: ProbeRequest) -> str:
    """Return a Python that has the package that the worker needs."""
    tried, needs = candidates(request.python, os.environ), request.probe.needs
    found = with_package(tried, needs, os.environ) if needs else tried[0]
    if found is None:
        text = (
            f"{needs} is not in: {', '.join(tried)}. To install it: python3 -m venv ~/probe && ~/probe/bin/pip install "
            f"{needs}; then: gputop probe --python ~/probe/bin/python"
        )
        raise UseCaseError(NO_DRIVER, text)
    return found
