"""A run of a probe: from a request to a report."""

import time
from contextlib import ExitStack

from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.app.probing.devices import Devices, open_devices
from gputop.app.probing.execution import Found, execute
from gputop.app.probing.files import expected_figures
from gputop.app.probing.progress import Observer
from gputop.app.probing.report import Judgement
from gputop.app.probing.request import ProbeRequest
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.plan import chosen
from gputop.core.probing.result import DeviceResult, ProbeReport, TestStatus


def probe(request: ProbeRequest, observer: Observer) -> ProbeReport:
    """Test the devices that are free, and judge the results. Raises UseCaseError if no device can be tested."""
    if request.cpus and request.ceiling != Ceiling():
        raise BadRequestError("--max-temp and --max-power are for GPUs: gputop reads neither from a CPU")
    try:
        tests = chosen(request.probe, request.level, request.tests)
        table = expected_figures(request.probe.reference)
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    devices = open_devices(request)
    started_s = time.time()
    with ExitStack() as held:
        refused = _refusals(request, devices, held)
        refused_uuids = {one.uuid for one in refused}
        tested = [device for device in devices.all if device.uuid not in refused_uuids]
        observer.begin(devices.all, refused)
        found = execute(request, tests, devices, tested, observer) if tested else Found()
    report = Judgement(request, devices, tested, table).report(found, refused)
    report = replace(report, started_s=started_s, duration_s=time.time() - started_s)
    observer.end(report)
    return report


def _refusals(request: ProbeRequest, devices: Devices, held: ExitStack) -> list[DeviceResult]:
    """Return the devices that must not be tested, and lock the others."""
    refused = []
    for device in devices.all:
        if obstacle := devices.obstacle(device, request.ceiling):
            refused.append(replace(devices.untested(device), status=TestStatus.ERROR, reason=obstacle))
            continue
        users = () if request.is_forced else devices.users(device)
        locked = "" if users else device.lock(held)
        if users or locked:
            reason = locked or "\n".join(("in use; --force tests it anyway", *users))
            refused.append(replace(devices.untested(device), status=TestStatus.REFUSED, reason=reason))
    return refused
