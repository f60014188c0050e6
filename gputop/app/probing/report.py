"""The judgement of a run: results compared with tables and baselines, put into a report."""

import os
import sys
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gputop.app.probing.devices import Device, Devices
from gputop.app.probing.execution import Found
from gputop.app.probing.files import read_baseline, write_baseline
from gputop.app.probing.request import ProbeRequest
from gputop.core.probing.baseline import Baseline, Run, figures_of, name_of, stale
from gputop.core.probing.joint import Group, judge_together
from gputop.core.probing.judge import Known, judge
from gputop.core.probing.probe import Level
from gputop.core.probing.reference import Entry
from gputop.core.probing.result import DeviceResult, ProbeReport, TestResult, TestStatus, exit_status, worst
from gputop.core.probing.slurm import station
from gputop.machine.probe.python import dropped


class Judgement(Struct, frozen=True):
    """The inputs of the judgement of a run."""

    request: ProbeRequest
    devices: Devices
    tested: Sequence[Device]
    table: tuple[Entry, ...]

    def report(self, found: Found, refused: Sequence[DeviceResult]) -> ProbeReport:
        """Return the report, without its times; save the figures if the request says so."""
        busy = self.devices.busy | found.newcomers.keys()
        known = Known(
            entries=self.table, links={**self.devices.best_links, **found.links}, busy=busy,
            past={device.uuid: self._past(device.uuid) for device in self.tested},
            wants_coverage=self.request.level in (Level.STANDARD, Level.LONG) and not self.request.cpus,
        )  # fmt: skip
        places = [device.uuid for device in self.devices.all]
        judged = (*judge(found.devices, self.request.probe, known), *refused)
        judged = tuple(sorted(judged, key=lambda device: places.index(device.uuid)))
        joint, together = self._joint(found, is_busy=any(device.uuid in busy for device in self.tested))
        kept = (*judged, *together)
        notes = (*self._baselines(kept), *stale(kept), *self._came(found), *self._dropped())
        return self._put_together(judged, joint, notes)

    def _joint(self, found: Found, *, is_busy: bool) -> tuple[tuple[TestResult, ...], tuple[DeviceResult, ...]]:
        """Return the tests over all devices, and the same as results of one device, for its baseline."""
        if not found.joint:
            return (), ()
        where, first = station(os.environ), self.tested[0]
        uuid = name_of([(device.index, device.uuid) for device in self.tested], where.boxes if where else 1)
        group = Group(
            uuid=uuid, kind=first.kind, name=first.name, entries=self.table, least_busbw=self.request.min_busbw,
            is_busy=is_busy, past=self._past(uuid),
        )  # fmt: skip
        tests = judge_together(found.joint, self.request.probe, group)
        status = worst(test.status for test in tests if test.status is not TestStatus.SKIP)
        as_one = DeviceResult(
            label="all together", uuid=uuid, name=first.name, kind=first.kind, status=status, tests=tests
        )
        return tests, (as_one,)

    def _past(self, uuid: str) -> dict[str, float]:
        return read_baseline(uuid).figures() if self.request.baseline == "compare" else {}

    def _baselines(self, results: Sequence[DeviceResult]) -> Iterator[str]:
        """Save the figures, or yield doubts about the comparison."""
        for device in results if self.request.baseline else ():
            if device.status is TestStatus.REFUSED or all(test.status is TestStatus.SKIP for test in device.tests):
                continue
            run = Run(
                saved_s=time.time(), driver=self.devices.driver_version, torch=device.torch,
                level=self.request.level.value, power_limit_w=self.devices.power_limit_w(device.uuid),
                figures=figures_of(device),
            )  # fmt: skip
            held = read_baseline(device.uuid)
            if self.request.baseline == "compare":
                yield from held.doubts(run, device.label)
            elif device.status in (TestStatus.PASS, TestStatus.WARN):
                yield f"{device.label}: {_saved(held.with_run(run))}"
            else:
                yield f"{device.label}: no baseline saved, because the run did not pass"

    def _came(self, found: Found) -> Iterator[str]:
        labels = {device.uuid: device.label for device in found.devices}
        for uuid, lines in found.newcomers.items():
            yield f"{labels.get(uuid, uuid)}: its speed is unclear, because other processes used it: {', '.join(lines)}"

    def _dropped(self) -> Iterator[str]:
        names = dropped(os.environ)
        if names:
            yield f"workers ran without {', '.join(names)}, which would change the measurements"

    def _put_together(
        self, devices: tuple[DeviceResult, ...], joint: tuple[TestResult, ...], notes: tuple[str, ...]
    ) -> ProbeReport:
        of_joint = [test.status for test in joint]
        grave = [status for status in of_joint if status is not TestStatus.SKIP] if devices else of_joint
        statuses = [*(device.status for device in devices), *grave]
        skips = any(t.status is TestStatus.SKIP for d in devices for t in d.tests) or TestStatus.SKIP in of_joint
        request = self.request
        return ProbeReport(
            started_s=0.0, duration_s=0.0, host=os.uname().nodename, driver=self.devices.driver_version,
            probe=request.probe.key, level=request.level.value, seed=request.seed, arguments=tuple(sys.argv[1:]),
            status=worst(statuses), devices=devices, joint=joint, notes=notes,
            exit_status=exit_status(statuses, has_skips=skips, is_strict=request.is_strict),
        )  # fmt: skip


def _saved(baseline: Baseline) -> str:
    """Save a baseline; return what happened."""
    try:
        write_baseline(baseline)
    except OSError as error:
        return f"no baseline saved: {error.strerror}"
    count = len(baseline.runs)
    return f"the baseline now holds {count} run{'s' if count > 1 else ''}"
